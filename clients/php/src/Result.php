<?php

declare(strict_types=1);

namespace Gatepost;

/** The result of a single check. `fields` has all of it as the service wrote it. */
final class Result
{
    /**
     * @param list<string> $signals
     * @param array<string, mixed> $fields
     */
    private function __construct(
        public readonly bool $format,
        public readonly string $domain,
        public readonly bool $disposable,
        public readonly bool $dns,
        public readonly int $confidence,
        public readonly bool $whitelist,
        public readonly array $signals,
        public readonly bool $role,
        public readonly bool $free,
        public readonly ?bool $alias,
        public readonly ?string $didYouMean,
        public readonly array $fields,
    ) {
    }

    public static function read(mixed $body): self
    {
        $needed = ['format', 'domain', 'disposable', 'dns', 'confidence', 'whitelist', 'signals', 'role', 'free'];
        if (!is_array($body) || array_diff($needed, array_keys($body)) !== []) {
            throw new GatepostException('answer', 'the answer is not a result');
        }
        try {
            return new self(
                $body['format'],
                $body['domain'],
                $body['disposable'],
                $body['dns'],
                $body['confidence'],
                $body['whitelist'],
                $body['signals'],
                $body['role'],
                $body['free'],
                $body['alias'] ?? null,
                $body['did_you_mean'] ?? null,
                $body,
            );
        } catch (\Throwable) {
            throw new GatepostException('answer', 'the answer is not a result');
        }
    }
}
