<?php

declare(strict_types=1);

namespace Gatepost;

/** Verifies tokens offline: docs/tokens.md. */
final class Tokens
{
    private const LONGEST = 4096;

    /**
     * @param list<string> $secrets those of the account, any of which may have signed
     * @param callable(string, int): bool $firstUse gets the id of a token and when it ends; true the first time
     * @param string|null $account the id that the token must be made for, if it is known
     * @param string|null $form the label that the token must have, if one is expected
     */
    public static function verify(
        string $token,
        string $email,
        array $secrets,
        int $now,
        callable $firstUse,
        ?string $account = null,
        ?string $form = null,
    ): TokenResult {
        self::checkSecrets($secrets);
        $parts = explode('.', $token, 4);
        if (strlen($token) > self::LONGEST || count($parts) !== 3) {
            return self::bad('malformed');
        }
        [$header, $claims, $signature] = [self::object($parts[0]), self::object($parts[1]), self::decode($parts[2])];
        if ($signature === null || ($header['alg'] ?? null) !== 'HS256' || ($header['typ'] ?? null) !== 'gatepost+jwt'
            || array_key_exists('crit', $header)) {
            return self::bad('malformed');
        }
        $isSigned = false;
        foreach ($secrets as $secret) {
            $isSigned = hash_equals(hash_hmac('sha256', "$parts[0].$parts[1]", $secret, true), $signature) || $isSigned;
        }
        $fault = $isSigned ? self::fault($claims ?? [], $email, $now, $account, $form) : 'signature';
        if ($fault === null && !$firstUse($claims['jti'], $claims['exp'])) {
            $fault = 'replayed';
        }
        return $fault === null ? new TokenResult(true, $claims, null, $claims['cpl']) : self::bad($fault);
    }

    /**
     * With an empty secret anybody could sign.
     *
     * @param list<string> $secrets
     */
    public static function checkSecrets(array $secrets): void
    {
        foreach ($secrets as $secret) {
            if (!is_string($secret) || preg_match('/\Agp_sign_[A-Za-z0-9_-]{43}\z/', $secret) !== 1) {
                throw new \InvalidArgumentException('tokenSecret: a token secret is gp_sign_ and 43 characters');
            }
        }
    }

    private static function bad(string $reason): TokenResult
    {
        return new TokenResult(false, null, $reason);
    }

    /** @param array<array-key, mixed> $claims */
    private static function fault(array $claims, string $email, int $now, ?string $account, ?string $form): ?string
    {
        $isWhole = is_int($claims['exp'] ?? null) && is_bool($claims['cpl'] ?? null) && is_string($claims['jti'] ?? null)
            && preg_match('/\A[0-9a-f]{32}\z/', $claims['jti']) === 1;
        $subject = self::encode(hash('sha256', Entry::trimmed($email), true));
        return match (true) {
            !$isWhole => 'malformed',
            $claims['exp'] <= $now => 'expired',
            $account !== null && ($claims['aud'] ?? null) !== $account => 'account',
            ($claims['sub'] ?? null) !== $subject => 'address',
            $form !== null && ($claims['form'] ?? null) !== $form => 'form',
            default => null,
        };
    }

    /** @return array<array-key, mixed>|null */
    private static function object(string $part): ?array
    {
        $value = json_decode(self::decode($part) ?? '', true, 32);
        return is_array($value) ? $value : null;
    }

    private static function encode(string $octets): string
    {
        return rtrim(strtr(base64_encode($octets), '+/', '-_'), '=');
    }

    /** A value has one encoding: null for anything else. */
    private static function decode(string $part): ?string
    {
        $octets = base64_decode(strtr($part, '-_', '+/'));
        return $octets !== false && self::encode($octets) === $part ? $octets : null;
    }
}
