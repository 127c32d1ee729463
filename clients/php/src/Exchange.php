<?php

declare(strict_types=1);

namespace Gatepost;

/** Asks the service, and again where that is safe. */
final class Exchange
{
    /** Requests of one call, the second at once; the larger number while a list is checked, which takes minutes. */
    private const TRIES = 2;
    private const PATIENT_TRIES = 100;
    private const BACK_OFF_S = 0.05;
    private const BACK_OFF_MOST_S = 5.0;

    public readonly string $baseUrl;

    /** @var array<string, string> */
    private readonly array $headers;

    public function __construct(string $url, ?string $key, private readonly Transport $transport)
    {
        $parts = parse_url($url);
        if (!is_array($parts) || !in_array($parts['scheme'] ?? '', ['http', 'https'], true) || ($parts['host'] ?? '') === ''
            || isset($parts['query']) || isset($parts['fragment']) || isset($parts['user'])) {
            throw new \InvalidArgumentException("url: \"$url\" is not the http or https address of a Gatepost");
        }
        if ($key !== null && preg_match('/\A[\x21-\x7E]+\z/', $key) !== 1) {
            throw new \InvalidArgumentException('key: use the printable key that `gatepost key create` printed');
        }
        $this->baseUrl = rtrim($url, '/');
        $this->headers = ['Accept' => 'application/json', 'User-Agent' => 'gatepost-php']
            + ($key === null ? [] : ['X-Api-Key' => $key]);
    }

    /**
     * @param array<string, mixed>|null $fields
     * @param array<string, string> $headers
     * @throws GatepostException
     */
    public function ask(
        string $method,
        string $path,
        Deadline $deadline,
        ?array $fields = null,
        array $headers = [],
        int $limit = 1_000_000,
        bool $isPatient = false,
    ): Response {
        $headers = $this->headers + ($fields === null ? [] : ['Content-Type' => 'application/json']) + $headers;
        $flags = JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE;
        $body = $fields === null ? null : json_encode($fields, $flags);
        $request = new Request($method, $this->baseUrl . $path, $headers, $body, $limit);
        $before = null;
        for ($tries = 0; ; $tries += 1) {
            try {
                $response = $this->transport->send($request, $deadline);
                $fault = $response->refusal(isset($headers['If-None-Match']));
                if ($fault === null) {
                    return $response;
                }
            } catch (GatepostException $fault) {
            }
            if ($fault->kind === 'timeout' && $before !== null) {
                throw $before; // says more
            }
            $isLast = $tries + 1 >= ($isPatient ? self::PATIENT_TRIES : self::TRIES);
            $delay = $isLast ? null : self::delay($fault, $tries, $isPatient);
            if ($delay === null || $delay >= $deadline->leftOrZero()) {
                throw $fault;
            }
            $before = $fault;
            usleep((int) ($delay * 1e6));
        }
    }

    /**
     * Seconds until another try, when the connection broke or the service is not there for now. Both are safe: a repeated
     * question costs a unit at most, and a batch has a key of its own. Null: it would not help.
     */
    private static function delay(GatepostException $fault, int $tries, bool $isPatient): ?float
    {
        $isPassing = $fault->kind === 'network' || in_array($fault->status, [502, 503, 504], true);
        if (!$isPassing && !($isPatient && in_array($fault->status, [409, 429], true))) {
            return null;
        }
        return $isPatient ? max(min(self::BACK_OFF_S * 2 ** $tries, self::BACK_OFF_MOST_S), (float) $fault->retryAfter) : 0.0;
    }
}
