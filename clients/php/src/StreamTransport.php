<?php

declare(strict_types=1);

namespace Gatepost;

/** HTTP/1.1 over PHP's streams. The connection is kept for the next request of this process. */
final class StreamTransport implements Transport
{
    /** Less than servers and proxies keep a silent connection. */
    private const IDLE_S = 4.0;

    private ?Connection $kept = null;
    private string $keptFor = '';
    private float $keptAt = 0.0;
    private ?int $keptBy = null;

    /** @param array<string, mixed> $tls PHP's ssl context options, for example `cafile` */
    public function __construct(private readonly array $tls = [], private readonly Names $names = new Names())
    {
    }

    public function send(Request $request, Deadline $deadline): Response
    {
        $url = parse_url($request->url);
        $host = $url['host'] ?? '';
        $isTls = ($url['scheme'] ?? '') === 'https';
        $port = $url['port'] ?? ($isTls ? 443 : 80);
        $octets = self::octets($request, $url, $host, isset($url['port']) ? ":$port" : '');
        $site = ($isTls ? 'tls' : 'tcp') . ":$host:$port";

        $connection = $this->take($site);
        if ($connection !== null) {
            try {
                return $this->on($connection, $site, $octets, $request, $deadline);
            } catch (GatepostException $fault) {
                // Closed by the service before it answered a first octet.
                if ($fault->kind !== 'network' || $connection->hasAnswered) {
                    throw $fault;
                }
            }
        }
        $opened = $this->open($host, $port, $isTls, $deadline);
        return $this->on($opened, $site, $octets, $request, $deadline);
    }

    private function take(string $site): ?Connection
    {
        $connection = $this->kept;
        $this->kept = null;
        $isFresh = $this->keptFor === $site && microtime(true) - $this->keptAt < self::IDLE_S;
        // A forked process must not speak on its parent's connection.
        return $connection !== null && $isFresh && $this->keptBy === getmypid() && $connection->isSilent()
            ? $connection
            : null;
    }

    private function on(Connection $by, string $site, string $octets, Request $request, Deadline $deadline): Response
    {
        $by->hasAnswered = false;
        $by->write($octets, $deadline);
        [$response, $isReusable] = (new Reading($by, $deadline, $request->limit))->response();
        if ($isReusable) {
            [$this->kept, $this->keptFor, $this->keptAt, $this->keptBy] = [$by, $site, microtime(true), getmypid() ?: null];
        }
        return $response;
    }

    private function open(string $host, int $port, bool $isTls, Deadline $deadline): Connection
    {
        $fault = null;
        $addresses = $this->names->of($host, $deadline);
        foreach ($addresses as $at => $address) {
            try {
                $within = $deadline->left() / (count($addresses) - $at);
                $target = (str_contains($address, ':') ? "[$address]" : $address) . ":$port";
                $tls = $isTls ? ['peer_name' => trim($host, '[]')] + $this->tls : null;
                return Connection::open($target, $within, $tls, $deadline);
            } catch (GatepostException $fault) {
            }
        }
        throw $fault;
    }

    /** @param array<string, mixed> $url */
    private static function octets(Request $request, array $url, string $host, string $port): string
    {
        $target = ($url['path'] ?? '/') . (isset($url['query']) ? "?{$url['query']}" : '');
        $lines = ["$request->method $target HTTP/1.1", "Host: $host$port"];
        foreach ($request->headers as $name => $value) {
            $lines[] = "$name: $value";
        }
        if ($request->body !== null) {
            $lines[] = 'Content-Length: ' . strlen($request->body);
        }
        return implode("\r\n", $lines) . "\r\n\r\n" . $request->body;
    }
}
