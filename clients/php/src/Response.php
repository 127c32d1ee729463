<?php

declare(strict_types=1);

namespace Gatepost;

final class Response
{
    /** @param array<string, string> $headers by name in lower case */
    public function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly string $body,
    ) {
    }

    public function json(): mixed
    {
        $value = $this->isJson() ? json_decode($this->body, true, 64) : null;
        return $this->isJson() && json_last_error() === JSON_ERROR_NONE
            ? $value
            : throw new GatepostException('answer', 'the answer is not JSON');
    }

    public function isJson(): bool
    {
        return strtolower(trim(explode(';', $this->headers['content-type'] ?? '')[0])) === 'application/json';
    }

    /** What the service refuses, or null. */
    public function refusal(bool $isConditional): ?GatepostException
    {
        if ($this->status === 200 || ($this->status === 304 && $isConditional)) {
            return null;
        }
        $body = json_decode($this->body, true, 64);
        $said = is_array($body) && is_string($body['error'] ?? null) ? $body['error'] : "status $this->status";
        $seconds = $this->headers['retry-after'] ?? '';
        $isNumber = preg_match('/\A\d{1,6}\z/', $seconds) === 1;
        return new GatepostException('status', $said, $this->status, $isNumber ? (int) $seconds : null);
    }
}
