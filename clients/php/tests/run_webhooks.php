<?php

declare(strict_types=1);

// What the client says about forms of a body.

use Gatepost\Webhooks;

require __DIR__ . '/../src/autoload.php';

$body = '{"event":"test.ping","data":"é"}';
$signature = hash_hmac('sha256', $body, 'key');
$stream = fopen('php://memory', 'r+');
fwrite($stream, $body);
try {
    $parsed = Webhooks::verify(['event' => 'test.ping'], $signature, 'key');
} catch (InvalidArgumentException $refused) {
    $parsed = $refused->getMessage();
}
echo json_encode([
    'text' => Webhooks::verify($body, $signature, 'key'),
    'stream' => Webhooks::verify($stream, $signature, 'key'),
    'other' => Webhooks::verify("$body ", $signature, 'key'),
    'no body' => Webhooks::verify(null, $signature, 'key'),
    'no signature' => Webhooks::verify($body, null, 'key'),
    'two signatures' => Webhooks::verify($body, [$signature], 'key'),
    'no secret' => Webhooks::verify($body, $signature, null),
    'parsed' => $parsed,
]);
