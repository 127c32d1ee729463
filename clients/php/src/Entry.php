<?php

declare(strict_types=1);

namespace Gatepost;

/** What is read before the service is asked: the address, the person's language, and the caller's facts. */
final class Entry
{
    public const MALFORMED = 'Please enter a complete email address.';

    private const HEADER_MAX = 1_000;

    private const FACT_MAX = 128;

    /** Without Unicode white space, U+FEFF and U+200B at both ends, as the service trims an address. */
    public static function trimmed(string $email): string
    {
        $blank = '[\x09-\x0D\x20\x{85}\x{A0}\x{1680}\x{2000}-\x{200B}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]';
        return preg_replace("/\A$blank++|(?<!$blank)$blank++\z/u", '', $email) ?? $email;
    }

    /** Without blanks around it; null for what cannot be an address. No text at all is left to the service. */
    public static function of(string $email): ?string
    {
        $entry = self::trimmed($email);
        return $email === '' || preg_match('/\A.{1,1000}\z/su', $entry) === 1 ? $entry : null;
    }

    /**
     * Longer text, a browser's name above all, would be refused, and the sign-up let in. Counted in UTF-16, as the service does.
     *
     * @param array<string, mixed> $facts
     * @return array<string, mixed>
     */
    public static function facts(array $facts): array
    {
        return array_map(fn (mixed $fact): mixed => is_string($fact) ? self::cut($fact) : $fact, $facts);
    }

    private static function cut(string $text): string
    {
        $left = self::FACT_MAX;
        $kept = '';
        foreach (preg_split('//u', $text, self::FACT_MAX + 2, PREG_SPLIT_NO_EMPTY) ?: [] as $character) {
            $left -= strlen($character) > 3 ? 2 : 1;
            if ($left < 0) {
                break;
            }
            $kept .= $character;
        }
        return $kept;
    }

    /** The language that a person likes best: of a tag, or of a whole Accept-Language header (RFC 9110 section 12.5.4). */
    public static function language(?string $header): ?string
    {
        $best = null;
        $weight = 0.0;
        foreach (array_slice(explode(',', substr($header ?? '', 0, self::HEADER_MAX)), 0, 20) as $part) {
            $words = array_map(trim(...), explode(';', $part));
            $tag = str_replace('_', '-', $words[0]);
            $given = preg_grep('/\Aq=/i', $words) ?: [];
            $q = $given === [] ? 1.0 : (float) substr(reset($given), 2);
            if ($q > $weight && preg_match('/\A[a-z]{2,8}(?:-[a-z0-9]{1,8})*\z/i', $tag) === 1) {
                [$best, $weight] = [$tag, $q];
            }
        }
        return $best;
    }
}
