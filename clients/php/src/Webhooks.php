<?php

declare(strict_types=1);

namespace Gatepost;

final class Webhooks
{
    /** Whether `$signature`, the value of X-Service-Signature, signs the body as it came, before any JSON was read. */
    public static function verify(string $body, ?string $signature, string $secret): bool
    {
        if ($secret === '' || $signature === null || preg_match('/\A[0-9a-f]{64}\z/', $signature) !== 1) {
            return false;
        }
        return hash_equals(hash_hmac('sha256', $body, $secret), $signature);
    }
}
