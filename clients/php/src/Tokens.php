<?php

declare(strict_types=1);

namespace Gatepost;

/** Verifies tokens offline: docs/tokens.md. */
final class Tokens
{
    private const LONGEST = 4096;

    /**
     * @param list<array<string, mixed>> $keys those of /.well-known/jwks.json
     * @param string $issuer the public URL of the service
     * @param callable(string, int): bool $firstUse gets the id of a token and when it ends; true the first time
     */
    public static function verify(
        string $token,
        string $email,
        array $keys,
        string $issuer,
        int $now,
        callable $firstUse,
    ): TokenResult {
        $parts = explode('.', $token, 4);
        if (strlen($token) > self::LONGEST || count($parts) !== 3) {
            return self::bad('malformed');
        }
        [$header, $claims, $signature] = [self::object($parts[0]), self::object($parts[1]), self::decode($parts[2])];
        if ($header === null || $signature === null || self::isOther($header)) {
            return self::bad('malformed');
        }
        $key = self::key($header['kid'], $keys);
        if ($key === null) {
            return self::bad('unknown_key');
        }
        if (strlen($key) !== SODIUM_CRYPTO_SIGN_PUBLICKEYBYTES || strlen($signature) !== SODIUM_CRYPTO_SIGN_BYTES
            || !sodium_crypto_sign_verify_detached($signature, "$parts[0].$parts[1]", $key)) {
            return self::bad('signature');
        }
        $fault = $claims === null ? 'malformed' : self::fault($claims, $email, $issuer, $now);
        if ($fault === null && !$firstUse($claims['jti'], $claims['exp'])) {
            $fault = 'replayed';
        }
        return $fault === null ? new TokenResult(true, $claims) : self::bad($fault);
    }

    public static function kidOf(string $token): ?string
    {
        $header = self::object(explode('.', substr($token, 0, self::LONGEST), 2)[0]);
        return is_string($header['kid'] ?? null) ? $header['kid'] : null;
    }

    private static function bad(string $reason): TokenResult
    {
        return new TokenResult(false, null, $reason);
    }

    /** @param array<array-key, mixed> $header */
    private static function isOther(array $header): bool
    {
        return ($header['alg'] ?? null) !== 'EdDSA' || ($header['typ'] ?? null) !== 'gatepost+jwt'
            || !is_string($header['kid'] ?? null) || array_key_exists('crit', $header);
    }

    /** @param list<array<string, mixed>> $keys */
    private static function key(string $kid, array $keys): ?string
    {
        foreach ($keys as $key) {
            if (($key['kid'] ?? null) === $kid && ($key['kty'] ?? null) === 'OKP' && ($key['crv'] ?? null) === 'Ed25519') {
                return is_string($key['x'] ?? null) ? self::decode($key['x']) : null;
            }
        }
        return null;
    }

    /** @param array<array-key, mixed> $claims */
    private static function fault(array $claims, string $email, string $issuer, int $now): ?string
    {
        $isWhole = is_int($claims['exp'] ?? null) && is_string($claims['jti'] ?? null)
            && preg_match('/\A[0-9a-f]{32}\z/', $claims['jti']) === 1;
        $subject = self::encode(hash('sha256', self::trimmed($email), true));
        return match (true) {
            !$isWhole => 'malformed',
            ($claims['iss'] ?? null) !== $issuer => 'issuer',
            $claims['exp'] <= $now => 'expired',
            ($claims['sub'] ?? null) !== $subject => 'address',
            default => null,
        };
    }

    /** Without Unicode white space, U+FEFF and U+200B at both ends, as the service trims an address. */
    private static function trimmed(string $email): string
    {
        $blank = '[\x09-\x0D\x20\x{85}\x{A0}\x{1680}\x{2000}-\x{200B}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]';
        return preg_replace("/\A$blank+|(?<!$blank)$blank+\z/u", '', $email) ?? $email;
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
