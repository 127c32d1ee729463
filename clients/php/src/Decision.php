<?php

declare(strict_types=1);

namespace Gatepost;

/**
 * `source` says who decided: `service`, `away` (the declared answer; `fault` says why the service did not), or `client`: the text is
 * no address, so the service was not asked.
 */
final class Decision
{
    private const BUSY = 'Please try again in a minute.';
    public const ALL = ['accept', 'challenge', 'review', 'reject'];

    /**
     * @param array{name: string, version: int}|null $policy
     * @param array{id: string, rules?: int, seen?: int}|null $mailbox
     */
    public function __construct(
        public readonly string $decision,
        public readonly string $reason,
        public readonly ?string $message = null,
        public readonly ?string $didYouMean = null,
        public readonly bool $complete = false,
        public readonly ?array $policy = null,
        public readonly ?array $mailbox = null,
        public readonly ?Result $result = null,
        public readonly ?string $token = null,
        public readonly string $source = 'service',
        public readonly ?GatepostException $fault = null,
        /** Where `evt` was sent: yes, no or unknown. */
        public readonly ?string $verified = null,
        /** The issuer of the proof says that the address hides another one. */
        public readonly bool $privateAddress = false,
        /** With `too_often`, `many` and `busy`: seconds until it is worth asking again. */
        public readonly ?int $retryAfter = null,
        /** Distinct mailboxes before this one, by the names of `countBy` and `net`. */
        public readonly ?array $counts = null,
    ) {
    }

    public static function malformed(?GatepostException $fault = null): self
    {
        return new self('reject', 'format', Entry::MALFORMED, complete: true, source: 'client', fault: $fault);
    }

    /** By `statuses` in clients/cases.json: what a visitor can provoke is refused; null for every other fault. */
    public static function refusedBy(GatepostException $fault): ?self
    {
        return match ($fault->status) {
            400, 413, 422 => self::malformed($fault),
            429 => new self('reject', 'busy', self::BUSY, source: 'client', fault: $fault, retryAfter: $fault->retryAfter),
            default => null,
        };
    }

    private static function seconds(mixed $said): ?int
    {
        return is_int($said) && $said >= 0 && $said < 1_000_000 ? $said : null;
    }

    /** Refuses whatever could block a person without a reason. */
    public static function read(mixed $body): self
    {
        $isFine = is_array($body)
            && in_array($body['decision'] ?? null, self::ALL, true)
            && is_string($body['reason'] ?? null)
            && preg_match('/\A[a-z_]{1,32}\z/', $body['reason']) === 1
            && is_bool($body['complete'] ?? null)
            && is_string($body['policy']['name'] ?? null);
        foreach (['message' => 'is_string', 'did_you_mean' => 'is_string', 'token' => 'is_string', 'verified' => 'is_string',
            'policy' => 'is_array', 'mailbox' => 'is_array', 'result' => 'is_array'] as $name => $isRight) {
            $isFine = $isFine && (!isset($body[$name]) || $isRight($body[$name]));
        }
        if (!$isFine) {
            throw new GatepostException('answer', 'the answer is not a decision');
        }
        return new self(
            $body['decision'],
            $body['reason'],
            $body['message'] ?? null,
            $body['did_you_mean'] ?? null,
            $body['complete'],
            $body['policy'] ?? null,
            $body['mailbox'] ?? null,
            isset($body['result']) ? Result::read($body['result']) : null,
            $body['token'] ?? null,
            verified: $body['verified'] ?? null,
            privateAddress: ($body['private_address'] ?? null) === true,
            retryAfter: self::seconds($body['retry_after'] ?? null),
            counts: is_array($body['counts'] ?? null) ? $body['counts'] : null,
        );
    }
}
