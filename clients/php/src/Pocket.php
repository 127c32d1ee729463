<?php

declare(strict_types=1);

namespace Gatepost;

/** The listed names as hashes, for the time when the service does not answer: docs/pocket.md. */
final class Pocket
{
    public const MAX_OCTETS = 1_000_000;
    private const SECTIONS = ['domains', 'exact', 'below', 'allowed', 'allowed_below'];
    private const WIDTH = 5;
    private const LABELS_MAX = 128;

    private readonly string $key;
    /** @var array<string, array{int, int}> where a section starts, and its entries */
    private readonly array $sections;

    /** @throws \UnexpectedValueException for a file that is not a pocket list */
    public function __construct(private readonly string $file)
    {
        $end = strpos($file, "\n");
        $head = $end === false || strlen($file) > self::MAX_OCTETS ? null : json_decode(substr($file, 0, $end), true, 4);
        $hasKey = is_string($head['key'] ?? null) && preg_match('/\A[0-9a-f]{32}\z/i', $head['key']) === 1;
        if (!$hasKey || ($head['format'] ?? null) !== 'gatepost-pocket' || ($head['version'] ?? null) !== 1) {
            throw new \UnexpectedValueException('not a pocket list of version 1');
        }
        $sections = [];
        $at = $end + 1;
        foreach (self::SECTIONS as $section) {
            $count = $head[$section] ?? null;
            if (!is_int($count) || $count < 0 || $count > self::MAX_OCTETS) {
                throw new \UnexpectedValueException("not a number of entries: $section");
            }
            $sections[$section] = [$at, $count];
            $at += $count * self::WIDTH;
        }
        if ($at !== strlen($file)) {
            throw new \UnexpectedValueException('a pocket list of another length than it says');
        }
        $this->key = (string) hex2bin($head['key']);
        $this->sections = $sections;
    }

    /** Whether the service rejects the address, or the domain, for its name alone. */
    public function lists(string $email): bool
    {
        $at = strrpos($email, '@');
        $name = self::lower(trim($at === false ? $email : substr($email, $at + 1)));
        $labels = explode('.', str_ends_with($name, '.') ? substr($name, 0, -1) : $name);
        foreach (array_keys(array_slice($labels, 0, self::LABELS_MAX)) as $from) {
            $entry = substr(hash('sha256', $this->key . implode('.', array_slice($labels, $from)), true), 0, self::WIDTH);
            [$passes, $stops] = $from === 0 ? ['allowed', 'exact'] : ['allowed_below', 'below'];
            if ($this->has($passes, $entry)) {
                return false;
            }
            if ($this->has('domains', $entry) || $this->has($stops, $entry)) {
                return true;
            }
        }
        return false;
    }

    private static function lower(string $name): string
    {
        $normal = class_exists(\Normalizer::class) ? \Normalizer::normalize($name, \Normalizer::FORM_KC) : $name;
        $name = is_string($normal) ? $normal : $name;
        $name = str_replace("\u{3002}", '.', $name); // as Chinese and Japanese keyboards write it
        return function_exists('mb_strtolower') ? mb_strtolower($name, 'UTF-8') : strtolower($name);
    }

    private function has(string $section, string $entry): bool
    {
        [$start, $high] = $this->sections[$section];
        $low = 0;
        while ($low < $high) {
            $middle = intdiv($low + $high, 2);
            $order = substr_compare($this->file, $entry, $start + $middle * self::WIDTH, self::WIDTH);
            if ($order === 0) {
                return true;
            }
            [$low, $high] = $order < 0 ? [$middle + 1, $high] : [$low, $middle];
        }
        return false;
    }
}
