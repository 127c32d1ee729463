<?php

declare(strict_types=1);

namespace Gatepost;

/**
 * Looks up a host's addresses by a deadline. PHP's own functions know none: they wait as long as the system does. Where
 * there is no resolv.conf (Windows), they are used all the same.
 */
final class Names
{
    private const A = 1;
    private const AAAA = 28;
    private const FRESH_S = 30;
    /** Share of what is left that one server gets, the last one excepted. */
    private const SHARE = 0.4;

    /** @var array<string, array{float, list<string>}> */
    private array $known = [];

    public function __construct(
        private readonly string $hostsFile = '/etc/hosts',
        private readonly string $resolvFile = '/etc/resolv.conf',
    ) {
    }

    /** @return non-empty-list<string> IPv4 first */
    public function of(string $host, Deadline $deadline): array
    {
        $host = trim($host, '[]');
        if (filter_var($host, FILTER_VALIDATE_IP) !== false) {
            return [$host];
        }
        [$at, $addresses] = $this->known[$host] ?? [0.0, []];
        if ($addresses !== [] && microtime(true) - $at < self::FRESH_S) {
            return $addresses;
        }
        try {
            $found = $this->inHosts($host) ?: $this->asked($host, $deadline);
        } catch (GatepostException $fault) {
            return $addresses ?: throw $fault;
        }
        $this->known[$host] = [microtime(true), $found];
        return $found;
    }

    /** @return list<string> */
    private function inHosts(string $host): array
    {
        $found = [];
        foreach (self::linesOf($this->hostsFile) as $words) {
            if (in_array(strtolower($host), array_map('strtolower', array_slice($words, 1)), true)) {
                $found[] = $words[0];
            }
        }
        usort($found, fn (string $a, string $b): int => str_contains($a, ':') <=> str_contains($b, ':'));
        return $found;
    }

    /** @return non-empty-list<string> */
    private function asked(string $host, Deadline $deadline): array
    {
        [$servers, $search, $dots] = $this->settings();
        if ($servers === []) {
            return gethostbynamel($host) ?: throw $this->unknown($host);
        }
        $whole = rtrim($host, '.');
        $more = str_ends_with($host, '.') ? [] : array_map(fn (string $end): string => "$whole.$end", $search);
        $names = substr_count($whole, '.') >= $dots ? [$whole, ...$more] : [...$more, $whole];
        foreach ($names as $name) {
            $found = $this->askedAll($servers, $name, $deadline);
            if ($found !== []) {
                return $found;
            }
        }
        throw $this->unknown($host);
    }

    private function unknown(string $host): GatepostException
    {
        return new GatepostException('network', "no address of $host");
    }

    /** @return array{list<string>, list<string>, int} servers, search list, ndots */
    private function settings(): array
    {
        $servers = $search = [];
        $dots = 1;
        foreach (self::linesOf($this->resolvFile) as $words) {
            if ($words[0] === 'nameserver' && isset($words[1])) {
                $servers[] = $words[1];
            } elseif ($words[0] === 'search' || $words[0] === 'domain') {
                $search = array_slice($words, 1, 6);
            } elseif ($words[0] === 'options' && preg_match('/\bndots:(\d{1,2})\b/', implode(' ', $words), $found) === 1) {
                $dots = (int) $found[1];
            }
        }
        return [array_slice($servers, 0, 3), $search, $dots];
    }

    /**
     * @param list<string> $servers
     * @return list<string> none: there is no such name
     */
    private function askedAll(array $servers, string $name, Deadline $deadline): array
    {
        foreach ($servers as $at => $server) {
            $isLast = $at === count($servers) - 1;
            $answers = $this->askedOne($server, $name, $deadline, $isLast ? INF : $deadline->left() * self::SHARE);
            if ($answers !== null) {
                return $answers;
            }
        }
        throw new GatepostException('network', "no DNS server answers about $name");
    }

    /** @return list<string>|null null: no answer */
    private function askedOne(string $server, string $name, Deadline $deadline, float $within): ?array
    {
        // For tests a server may have a port: 127.0.0.1:5353.
        $port = preg_match('/\A[\d.]+:\d+\z|\A\[.*\]:\d+\z/', $server) === 1 ? '' : ':53';
        $target = str_contains($server, ':') && $port !== '' ? "[$server]" : $server;
        $socket = @stream_socket_client("udp://$target$port"); // sends nothing yet
        if ($socket === false) {
            return null;
        }
        stream_set_blocking($socket, false);
        $waiting = [];
        foreach ([self::A, self::AAAA] as $type) {
            $query = self::query($name, $type);
            $waiting[substr($query, 0, 2)] = [$type, substr($query, 12)];
            @fwrite($socket, $query);
        }
        $found = [self::A => [], self::AAAA => []];
        $end = hrtime(true) / 1e9 + $within;
        while ($waiting !== [] && ($left = $end - hrtime(true) / 1e9) > 0 && $deadline->wait([$socket], [], $left)) {
            $answer = (string) @fread($socket, 4096);
            [$type, $question] = $waiting[substr($answer, 0, 2)] ?? [0, ''];
            if ($type === 0) {
                if ($answer === '' && feof($socket)) {
                    break;
                }
                continue;
            }
            $addresses = self::addresses($answer, $type, $question);
            if ($addresses === null) {
                continue;
            }
            if ($addresses === false) {
                break;
            }
            $found[$type] = $addresses;
            unset($waiting[substr($answer, 0, 2)]);
            if ($addresses !== [] && $type === self::A) {
                break; // IPv4 is enough
            }
        }
        fclose($socket);
        $all = [...$found[self::A], ...$found[self::AAAA]];
        return $all === [] && $waiting !== [] ? null : $all;
    }

    private static function query(string $name, int $type): string
    {
        $question = '';
        foreach (explode('.', $name) as $label) {
            $label = substr($label, 0, 63);
            $question .= chr(strlen($label)) . $label;
        }
        return random_bytes(2) . pack('n5', 0x0100, 1, 0, 0, 0) . $question . "\0" . pack('n2', $type, 1);
    }

    /** @return list<string>|false|null null: not an answer to this question; false: the server could not tell */
    private static function addresses(string $message, int $type, string $question): array|false|null
    {
        $head = strlen($message) >= 12 ? unpack('nid/nflags/nquestions/nanswers', $message) : false;
        if ($head === false || ($head['flags'] & 0x8000) === 0 || $head['questions'] !== 1) {
            return null;
        }
        if (strcasecmp(substr($message, 12, strlen($question)), $question) !== 0) {
            return null;
        }
        $code = $head['flags'] & 15;
        if ($code !== 0 && $code !== 3) {
            return false; // SERVFAIL, REFUSED
        }
        $found = [];
        $at = 12 + strlen($question);
        for ($left = $head['answers']; $left > 0; $left -= 1) {
            $at = self::afterName($message, $at);
            $record = strlen($message) >= $at + 10 ? unpack('ntype/nclass/Nttl/nlength', $message, $at) : false;
            if ($record === false || strlen($message) < $at + 10 + $record['length']) {
                break; // cut short: what is there is enough
            }
            if ($record['type'] === $type && $record['length'] === ($type === self::A ? 4 : 16)) {
                $found[] = inet_ntop(substr($message, $at + 10, $record['length']));
            }
            $at += 10 + $record['length'];
        }
        return $found;
    }

    private static function afterName(string $message, int $at): int
    {
        while ($at < strlen($message)) {
            $length = ord($message[$at]);
            if ($length === 0) {
                return $at + 1;
            }
            if ($length >= 0xC0) {
                return $at + 2;
            }
            $at += $length + 1;
        }
        return $at;
    }

    /** @return iterable<non-empty-list<string>> the words of each line, without comments */
    private static function linesOf(string $file): iterable
    {
        foreach (explode("\n", (string) @file_get_contents($file, false, null, 0, 1_000_000)) as $line) {
            $words = preg_split('/\s+/', preg_replace('/[#;].*/', '', $line) ?? '', -1, PREG_SPLIT_NO_EMPTY);
            if ($words !== false && $words !== []) {
                yield $words;
            }
        }
    }
}
