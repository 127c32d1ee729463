<?php

declare(strict_types=1);

// Looks up names at a DNS server of the tests: run_names.php SERVER NAMES_AS_JSON

use Gatepost\Deadline;
use Gatepost\GatepostException;
use Gatepost\Names;

require __DIR__ . '/../src/autoload.php';

[, $server, $names] = $argv;
$resolv = tempnam(sys_get_temp_dir(), 'resolv');
$hosts = tempnam(sys_get_temp_dir(), 'hosts');
file_put_contents($resolv, "# of the test\nnameserver $server ; the first\nsearch inner.example\noptions edns0 ndots:2\n");
file_put_contents($hosts, "::1 both.example\n127.0.0.9\tboth.example other.example # a comment\n");
$seen = [];
foreach (json_decode($names, true) as $name => $deadlineMs) {
    try {
        $seen[$name] = (new Names($hosts, $resolv))->of($name, new Deadline($deadlineMs));
    } catch (GatepostException $fault) {
        $seen[$name] = $fault->kind;
    }
}
unlink($resolv);
unlink($hosts);
echo json_encode($seen);
