<?php

declare(strict_types=1);

// Runs a share of clients/cases.json and prints what was seen as JSON: run_cases.php WORLD_FILE SHARE OF

use Gatepost\Cache;
use Gatepost\Client;
use Gatepost\GatepostException;
use Gatepost\StreamTransport;
use Gatepost\Tokens;
use Gatepost\Webhooks;

require __DIR__ . '/../src/autoload.php';

set_error_handler(fn (int $level, string $text) => error_reporting() & $level ? throw new ErrorException($text) : false);

[, $worldFile, $share, $of] = $argv;
$world = json_decode(file_get_contents($worldFile), true);
// PHP's JSON has no lone surrogates.
$cases = json_decode(str_replace('\ud800', '\ufffd', file_get_contents(__DIR__ . '/../../cases.json')), true);
$folder = sys_get_temp_dir() . '/gatepost-cases-' . bin2hex(random_bytes(8));
mkdir($folder, 0700);
register_shutdown_function(fn () => exec('rm -rf ' . escapeshellarg($folder)));

// As `about` in the table says.
$awayByFunction = fn (string $email): mixed => match (true) {
    str_starts_with($email, 'fails@') => throw new RuntimeException('no list'),
    str_starts_with($email, 'nothing@') => null,
    default => str_ends_with($email, '@mailinator.com') ? 'reject' : 'accept',
};
$awayOf = fn (array $case): mixed => ($case['client']['away'] ?? '') === 'function'
    ? $awayByFunction
    : $case['client']['away'] ?? 'accept';
$decided = [];
foreach ($cases['decide'] as $at => $case) {
    if ($at % $of !== (int) $share) {
        continue;
    }
    $fault = $case['at'] ?? null;
    $url = $fault === null ? $world['service'] : $world['faults'][$fault];
    $client = new Client(
        $url,
        match ($case['client']['key'] ?? '') {
            'none' => null,
            'wrong' => 'gp_live_' . str_repeat('0', 40),
            default => $world['key'],
        },
        deadlineMs: in_array('timeout', $case['expect']['fault']['kind'] ?? [], true) ? 400 : 10_000,
        away: $awayOf($case),
        cacheFolder: $folder,
    );
    $decision = $client->decide($case['email'] . str_repeat(' ', $case['blanks'] ?? 0), ...$case['ask'] ?? []);
    $decided[$case['name']] = [
        'source' => $decision->source,
        'decision' => $decision->decision,
        'reason' => $decision->reason,
        'complete' => $decision->complete,
        'message' => $decision->message,
        'did_you_mean' => $decision->didYouMean,
        'policy' => $decision->policy['name'] ?? null,
        'token' => $decision->token !== null,
        'verified' => $decision->verified,
        'retry_after' => $decision->retryAfter,
        'fault' => $decision->fault === null
            ? null
            : ['kind' => $decision->fault->kind, 'status' => $decision->fault->status],
    ];
}

$clientFor = fn (array $case): Client => new Client(
    isset($case['at']) ? $world['faults'][$case['at']] : $world['service'],
    match ($case['client']['key'] ?? '') {
        'none' => null,
        'wrong' => 'gp_live_' . str_repeat('0', 40),
        default => $world['key'],
    },
    deadlineMs: in_array('timeout', $case['fault']['kind'] ?? [], true) ? 400 : 10_000,
    away: $awayOf($case),
    cacheFolder: $folder,
);
$maySend = [];
// Once: more messages would be a wave.
foreach ($share === '0' ? $cases['may_send'] : [] as $case) {
    $client = $clientFor($case);
    $email = str_replace('{run}', bin2hex(random_bytes(4)), $case['email']);
    if (isset($case['told'])) {
        $client->feedback($email, $case['told']);
    }
    $maySend[$case['name']] = array_map(function (array $each) use ($client, $case, $email): array {
        $with = $each['with'] ?? [];
        $asked = isset($with['count_by']) ? ['countBy' => $with['count_by']] + array_diff_key($with, ['count_by' => 0]) : $with;
        $said = isset($case['invite']) ? $client->mayInvite($email, ...$asked) : $client->maySend($email, ...$asked);
        return ['send' => $said->send, 'ask' => $said->ask, 'reason' => $said->reason];
    }, $case['says']);
}
$told = [];
foreach ($cases['feedback'] as $case) {
    $client = $clientFor($case);
    try {
        $client->feedback(...$case['tell']);
        $told[$case['name']] = null;
    } catch (GatepostException $thrown) {
        $told[$case['name']] = ['kind' => $thrown->kind, 'status' => $thrown->status];
    }
}

$found = [];
foreach ($cases['mailboxes'] as $case) {
    try {
        $emails = array_merge(...array_fill(0, $case['times'] ?? 1, $case['emails']));
        $found[$case['name']] = array_column($clientFor($case)->mailboxes($emails), 'id');
    } catch (GatepostException $thrown) {
        $found[$case['name']] = ['kind' => $thrown->kind, 'status' => $thrown->status];
    }
}

$secure = new Client(
    $world['tls'],
    deadlineMs: 10_000,
    cacheFolder: $folder,
    transport: new StreamTransport(['cafile' => $world['authority']]),
);
$tls = array_map(fn () => $secure->decide('jo@good.example')->source, range(1, 3));

$used = new Cache($folder, 'tokens');
$firstUse = fn (string $jti, int $exp): bool => $used->first($jti, $exp, 0);
['secrets' => $secrets, 'account' => $account] = $cases['tokens'];
echo json_encode([
    'tls' => $tls,
    'decide' => (object) $decided,
    'may_send' => $maySend,
    'feedback' => $told,
    'mailboxes' => $found,
    'tokens' => array_map(
        fn ($each) => Tokens::verify(
            $each['token'],
            $each['email'],
            $secrets,
            $each['now'],
            $firstUse,
            $account,
            $each['form'] ?? null,
        )->reason ?? 'ok',
        $cases['tokens']['cases'],
    ),
    'webhooks' => array_map(
        fn ($each) => Webhooks::verify(base64_decode($each['body']), $each['signature'], $each['secret']),
        $cases['webhooks'],
    ),
], JSON_THROW_ON_ERROR);
