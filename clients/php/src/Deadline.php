<?php

declare(strict_types=1);

namespace Gatepost;

/** One for all that a call does: name, connection, TLS, sending, reading, waiting, trying again. */
final class Deadline
{
    private readonly int $endNs;

    public function __construct(public readonly int $ms)
    {
        $this->endNs = hrtime(true) + $ms * 1_000_000;
    }

    /** Seconds; throws when there are none. */
    public function left(): float
    {
        $left = $this->leftOrZero();
        return $left > 0 ? $left : throw $this->passed();
    }

    public function leftOrZero(): float
    {
        return max(0, ($this->endNs - hrtime(true)) / 1e9);
    }

    public function passed(): GatepostException
    {
        return new GatepostException('timeout', "no answer within $this->ms ms");
    }

    /**
     * Waits until one of the streams can be read, or written.
     *
     * @param array<int, resource> $read
     * @param array<int, resource> $write
     * @return bool false after $within seconds, if that is before the deadline
     */
    public function wait(array $read, array $write = [], ?float $within = null): bool
    {
        $none = null;
        $left = $this->left();
        $seconds = min($left, $within ?? $left);
        $whole = (int) $seconds;
        // False: a signal came. The caller looks again.
        $ready = @stream_select($read, $write, $none, $whole, (int) (($seconds - $whole) * 1e6) + 1);
        if ($ready === 0 && $seconds >= $left) {
            throw $this->passed();
        }
        return $ready !== 0;
    }
}
