<?php

declare(strict_types=1);

namespace Gatepost;

/** What is read before the service is asked: the address, the person's language, and the caller's facts. */
final class Entry
{
    public const MALFORMED = 'Please enter a complete email address.';

    private const HEADER_MAX = 1_000;

    private const TEXT_MAX = 128;

    /** Without Unicode white space, U+FEFF and U+200B at both ends, as the service trims an address. */
    public static function trimmed(string $email): string
    {
        $blank = '[\x09-\x0D\x20\x{85}\x{A0}\x{1680}\x{2000}-\x{200B}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]';
        return preg_replace("/\A$blank++|(?<!$blank)$blank++\z/u", '', $email) ?? $email;
    }

    /** Without blanks around it; null for what cannot be an address. */
    public static function of(mixed $email): ?string
    {
        $entry = is_string($email) ? self::trimmed($email) : '';
        return preg_match('/\A.{1,1000}\z/su', $entry) === 1 ? $entry : null;
    }

    /**
     * Visitors write some of it, a browser's name above all: what is too long is cut, what is no fact is left out. Counted in UTF-16,
     * as the service does.
     *
     * @param array<string, mixed> $facts
     * @return array<string, mixed>
     */
    public static function facts(array $facts): array
    {
        return array_map(fn (mixed $fact): mixed => is_string($fact) ? self::cut($fact) : $fact, array_filter($facts, 'is_scalar'));
    }

    /**
     * What is no text is left out, and so is an `ip` that is none; longer text is cut.
     *
     * @param array<string, mixed> $names
     * @return array<string, string>
     */
    public static function countBy(array $names): array
    {
        $kept = [];
        foreach (array_filter($names, 'is_string') as $name => $text) {
            $kept[$name] = $name === 'ip' ? self::ip(trim($text)) : self::cut($text);
        }
        return array_filter($kept, fn (string $text): bool => $text !== '');
    }

    /** Without what proxies write beside an address: a port, brackets, a zone. */
    private static function ip(string $text): string
    {
        $bare = preg_replace(['/\A\[([^\]]*)\](?::\d+)?\z/', '/\A([\d.]+):\d+\z/', '/%.*\z/s'], ['$1', '$1', ''], $text);
        return filter_var($bare, FILTER_VALIDATE_IP) === false ? '' : $bare;
    }

    private static function cut(string $text): string
    {
        $left = self::TEXT_MAX;
        $kept = '';
        foreach (preg_split('//u', $text, self::TEXT_MAX + 2, PREG_SPLIT_NO_EMPTY) ?: [] as $character) {
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
