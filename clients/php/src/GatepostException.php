<?php

declare(strict_types=1);

namespace Gatepost;

/**
 * The service did not answer, or refused. `kind` is `timeout` (the deadline passed), `network` (name, connection, TLS),
 * `status` (a refusal, or a fault of the service), `answer` (not what the service says), `failed` (a batch failed) or
 * `request` (cannot be sent). `session` is that of a batch: give it to `resumeBulk`.
 */
final class GatepostException extends \RuntimeException
{
    public ?string $session = null;

    public function __construct(
        public readonly string $kind,
        string $detail,
        public readonly ?int $status = null,
        /** Seconds after which the service will answer again. */
        public readonly ?int $retryAfter = null,
    ) {
        parent::__construct($detail);
    }
}
