<?php

declare(strict_types=1);

namespace Gatepost;

final class Webhooks
{
    /**
     * Whether `$signature`, the value of X-Service-Signature, signs the body as it came, before any JSON was read. `$body` is text
     * or a stream. False without a body, a signature or a secret; throws for a body that was parsed, because its octets are gone.
     */
    public static function verify(mixed $body, mixed $signature, ?string $secret): bool
    {
        if (is_resource($body)) {
            $body = stream_get_contents($body, offset: (stream_get_meta_data($body)['seekable'] ?? false) ? 0 : -1);
        } elseif ($body instanceof \Stringable) {
            $body = (string) $body;
        }
        if ($body === null || $body === false) {
            return false;
        }
        if (!is_string($body)) {
            throw new \InvalidArgumentException('body: give the raw body, not what a parser made of it: docs/webhooks.md');
        }
        if (($secret ?? '') === '' || !is_string($signature) || preg_match('/\A[0-9a-f]{64}\z/', $signature) !== 1) {
            return false;
        }
        return hash_equals(hash_hmac('sha256', $body, $secret), $signature);
    }
}
