<?php

declare(strict_types=1);

namespace Gatepost;

/**
 * `reason` says why a token is not good: `malformed`, `signature`, `expired`, `account`, `address`, `form` or `replayed`.
 * `complete` is false when DNS did not answer in time: ask the service again if that matters.
 */
final class TokenResult
{
    /** @param array<string, mixed>|null $claims */
    public function __construct(
        public readonly bool $ok,
        public readonly ?array $claims = null,
        public readonly ?string $reason = null,
        public readonly bool $complete = false,
    ) {
    }
}
