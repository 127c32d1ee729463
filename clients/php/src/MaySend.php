<?php

declare(strict_types=1);

namespace Gatepost;

/** Of `maySend` and `mayInvite`. */
final class MaySend
{
    /** The policy accepts, or nobody answered. */
    public readonly bool $send;
    /** The policy wants a question or a CAPTCHA first: ask again with `confirmed`. */
    public readonly bool $ask;
    public readonly string $reason;
    /** Seconds. */
    public readonly ?int $retryAfter;
    /** For the person; null where $send is true. */
    public readonly ?string $message;
    public readonly ?string $didYouMean;

    public function __construct(Decision $said)
    {
        $this->send = $said->source === 'away' || $said->decision === 'accept';
        $this->ask = $said->source === 'service' && $said->decision === 'challenge';
        $this->reason = $said->reason;
        $this->retryAfter = $said->retryAfter;
        $this->message = $said->message;
        $this->didYouMean = $said->didYouMean;
    }
}
