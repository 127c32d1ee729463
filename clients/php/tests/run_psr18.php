<?php

declare(strict_types=1);

// What the client says about addresses through Guzzle, a PSR-18 client: run_psr18.php URL ADDRESSES_AS_JSON

use Gatepost\Client;
use Gatepost\Psr18Transport;

require 'GuzzleHttp/autoload.php';
require __DIR__ . '/../src/autoload.php';

$transport = new Psr18Transport(new GuzzleHttp\Client(['timeout' => 10]), new GuzzleHttp\Psr7\HttpFactory());
$client = new Client($argv[1], deadlineMs: 10_000, language: 'de', transport: $transport);
$seen = [];
foreach (json_decode($argv[2]) as $email) {
    $decision = $client->decide($email);
    $seen['psr18'][] = $decision->decision === 'reject' ? [$decision->message] : [];
}
$nobody = new Client('http://127.0.0.1:9', transport: $transport);
assert($nobody->decide('jo@good.example')->fault?->kind === 'network');
echo json_encode($seen);
