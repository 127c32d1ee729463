<?php

declare(strict_types=1);

namespace Gatepost;

/**
 * `reason` says why a token is not good: `malformed`, `unknown_key`, `signature`, `issuer`, `expired`, `address`,
 * `replayed`, or `keys_unavailable` when the public keys could not be fetched.
 */
final class TokenResult
{
    /** @param array<string, mixed>|null $claims */
    public function __construct(
        public readonly bool $ok,
        public readonly ?array $claims = null,
        public readonly ?string $reason = null,
    ) {
    }
}
