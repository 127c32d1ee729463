<?php

declare(strict_types=1);

namespace Gatepost;

final class BulkResult
{
    /**
     * @param array<string, int|string> $stats
     * @param array<array-key, Result> $results by entry, as it was sent
     */
    public function __construct(
        public readonly string $session,
        public readonly array $stats,
        public readonly array $results,
    ) {
    }
}
