<?php

declare(strict_types=1);

// Sign-ups while the service is killed, slow and lying: reach.php WORLD_FILE COUNT. Prints "half", then JSON.

use Gatepost\Client;

require __DIR__ . '/../src/autoload.php';

const DEADLINE_MS = 500;
const TURNS = 20; // of these, 16 go to the service, two to a silent one and two to one that lies
const SILENT = ['hang', 'slow'];
const OTHERS = ['drip', 'endless_body', 'endless_head', 'endless_interim', 'endless_trailers', 'silent_connection'];

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
