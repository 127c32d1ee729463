<?php

declare(strict_types=1);

namespace Gatepost;

final class Request
{
    /** @param array<string, string> $headers */
    public function __construct(
        public readonly string $method,
        /** Absolute. */
        public readonly string $url,
        public readonly array $headers = [],
        public readonly ?string $body = null,
        /** Octets that the answer may have. */
        public readonly int $limit = 1_000_000,
    ) {
    }
}
