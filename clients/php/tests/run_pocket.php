<?php

declare(strict_types=1);

// What later requests know of the pocket list that an earlier one fetched. Prints JSON.

use Gatepost\Client;
use Gatepost\Deadline;
use Gatepost\GatepostException;
use Gatepost\Request;
use Gatepost\Response;
use Gatepost\Transport;

require __DIR__ . '/../src/autoload.php';

/** Answers as the service does, or not at all. */
final class Service implements Transport
{
    /** @var list<string> */
    public array $asked = [];
    public bool $isAway = false;

    public function __construct(private readonly string $list)
    {
    }

    public function send(Request $request, Deadline $deadline): Response
    {
        $held = $request->headers['If-None-Match'] ?? '';
        $this->asked[] = parse_url($request->url, PHP_URL_PATH) . $held;
        if ($this->isAway) {
            throw new GatepostException('network', 'away');
        }
        if (str_contains($request->url, '/feeds/pocket')) {
            return new Response($held === '"one"' ? 304 : 200, ['etag' => '"one"'], $held === '"one"' ? '' : $this->list);
        }
        $body = '{"decision":"accept","reason":"ok","complete":true,"policy":{"name":"default","version":1}}';
        return new Response(200, ['content-type' => 'application/json'], $body);
    }
}

$cases = json_decode(str_replace('\ud800', '\ufffd', file_get_contents(__DIR__ . '/../../cases.json')), true);
$service = new Service(base64_decode($cases['pocket']['file']));
$folder = sys_get_temp_dir() . '/gatepost-pocket-' . bin2hex(random_bytes(8));
mkdir($folder, 0700);
register_shutdown_function(fn () => exec('rm -rf ' . escapeshellarg($folder)));
$client = fn (int $refreshMs = 60_000): Client
    => new Client('http://gatepost.example', cacheFolder: $folder, refreshMs: $refreshMs, transport: $service);
$source = fn (string $email): string => $client()->decide($email)->source;
$seen = [];

$service->isAway = true;
$seen['without a list'] = $source('jo@trash.example');
$service->isAway = false;
$client(0)->decide('jo@good.example');
$client()->decide('jo@good.example');
$client()->decide('jo@good.example');
$seen['fetched once'] = array_count_values($service->asked)['/feeds/pocket'];
$service->isAway = true;
$seen['a listed address'] = $source('jo@trash.example');
$seen['an honest one'] = $source('jo@good.example');
$service->isAway = false;
$seen['asked again'] = $client()->refreshPocket();
$seen['with its tag'] = end($service->asked);
chmod($folder, 0777);
$service->isAway = true;
$seen['a folder that others write'] = $source('jo@trash.example');
echo json_encode($seen);
