import json
import sys
from concurrent.futures import ThreadPoolExecutor

import dns.resolver
from email_validator import EmailNotValidError, validate_email

host, port = sys.argv[1].split(":")
resolver = dns.resolver.Resolver(configure=False)
resolver.nameservers, resolver.port = [host], int(port)
resolver.cache = dns.resolver.LRUCache(100_000)


def is_good(address):
    try:
        validate_email(address, dns_resolver=resolver)
        return True
    except EmailNotValidError:
        return False


print("ready", flush=True)
with ThreadPoolExecutor(32) as pool:
    for line in sys.stdin:
        print(json.dumps(list(pool.map(is_good, json.loads(line)))), flush=True)
