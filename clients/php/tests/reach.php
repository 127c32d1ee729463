<?php

declare(strict_types=1);

// Sign-ups while the service is killed, slow and lying: reach.php WORLD_FILE COUNT. Prints "half", then JSON.
// reach.php overhead WORLD_FILE COUNT compares the client with a bare round trip.

use Gatepost\Client;

require __DIR__ . '/../src/autoload.php';

const DEADLINE_MS = 250;
const TURNS = 20; // of these, 16 go to the service, two to a silent one and two to one that lies
const SILENT = ['hang', 'slow'];
const OTHERS = ['drip', 'endless_body', 'endless_head', 'silent_connection'];

function median(array $values): float
{
    sort($values);
    return $values[intdiv(count($values), 2)];
}

function overhead(array $world, int $count): void
{
    $client = new Client($world['service'], $world['key']);
    ['host' => $host, 'port' => $port] = parse_url($world['service']);
    $socket = stream_socket_client("tcp://$host:$port");
    $body = '{"email":"jo@good.example","deadline_ms":1460}';
    $octets = "POST /api/decide HTTP/1.1\r\nHost: $host\r\nX-Api-Key: {$world['key']}\r\nContent-Type: application/json\r\n"
        . 'Content-Length: ' . strlen($body) . "\r\n\r\n$body";
    $bare = function () use ($socket, $octets): void {
        fwrite($socket, $octets);
        while (($line = fgets($socket)) !== "\r\n") {
            $length = stripos($line, 'content-length: ') === 0 ? (int) substr($line, 16) : $length ?? 0;
        }
        for ($read = 0; $read < $length;) {
            $read += strlen(fread($socket, $length - $read));
        }
    };
    $times = ['client' => [], 'bare' => []];
    for ($at = 0; $at < $count; $at += 1) {
        foreach (['client' => fn () => $client->decide('jo@good.example'), 'bare' => $bare] as $name => $call) {
            $began = hrtime(true);
            $call();
            $times[$name][] = (hrtime(true) - $began) / 1e6;
        }
    }
    echo json_encode(array_map(median(...), $times));
}

if ($argv[1] === 'overhead') {
    overhead(json_decode(file_get_contents($argv[2]), true), (int) $argv[3]);
    exit;
}

$world = json_decode(file_get_contents($argv[1]), true);
$count = (int) $argv[2];
$lies = array_values(array_diff(array_keys($world['faults']), SILENT, OTHERS));

$clients = [];
$seen = ['count' => $count, 'answered' => 0, 'blocked_wrongly' => 0, 'let_in_wrongly' => 0, 'late' => 0, 'worst_ms' => 0.0];
$sources = [];
for ($at = 0; $at < $count; $at += 1) {
    if ($at === intdiv($count, 2)) {
        echo "half\n";
    }
    $turn = $at % TURNS;
    $url = match (true) {
        $turn < TURNS - 4 => $world['service'],
        $turn < TURNS - 2 => $world['faults'][SILENT[$turn % 2]],
        default => $world['faults'][$lies[intdiv($at, TURNS) * 2 % count($lies)]],
    };
    $clients[$url] ??= new Client($url, $world['key'], deadlineMs: DEADLINE_MS);
    $isListed = $at % 3 === 0;
    $began = hrtime(true);
    $decision = $clients[$url]->decide("jo$at@" . ($isListed ? 'mailinator.com' : 'good.example'));
    $ms = (hrtime(true) - $began) / 1e6;
    $isBlocked = !in_array($decision->decision, ['accept', 'review'], true);
    $seen['answered'] += 1;
    $seen['blocked_wrongly'] += (int) ($isBlocked && !$isListed);
    $seen['let_in_wrongly'] += (int) ($isListed && !$isBlocked && $decision->source === 'service');
    $seen['late'] += (int) ($ms > DEADLINE_MS + 50);
    $seen['worst_ms'] = max($seen['worst_ms'], $ms);
    $sources[$decision->source] = ($sources[$decision->source] ?? 0) + 1;
}
echo json_encode($seen + ['sources' => $sources]);
