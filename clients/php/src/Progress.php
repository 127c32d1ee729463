<?php

declare(strict_types=1);

namespace Gatepost;

final class Progress
{
    public function __construct(
        /** For `resumeBulk`, also after a restart; results are kept for 15 minutes. */
        public readonly string $session,
        public readonly string $status,
        public readonly int $done,
        public readonly int $total,
    ) {
    }
}
