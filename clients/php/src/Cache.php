<?php

declare(strict_types=1);

namespace Gatepost;

/**
 * The ids of used tokens, as files that the processes of one user share. Without a folder that belongs to this user alone,
 * nothing is kept: another user could delete them.
 */
final class Cache
{
    private readonly ?string $folder;

    public function __construct(?string $folder, string $site)
    {
        $parent = $folder ?? sys_get_temp_dir() . '/gatepost-client-' . self::user();
        $this->folder = self::own($parent) && self::own("$parent/" . substr(hash('sha256', $site), 0, 16))
            ? "$parent/" . substr(hash('sha256', $site), 0, 16)
            : null;
    }

    /** True for the one process that comes first. Without a folder: false, because nobody could say. */
    public function first(string $name, int $untilS, int $now): bool
    {
        if ($this->folder === null) {
            return false;
        }
        if (random_int(0, 999) === 0) {
            $this->sweep($now);
        }
        $file = @fopen("$this->folder/used-$name", 'x');
        if ($file === false) {
            return false;
        }
        fclose($file);
        @touch("$this->folder/used-$name", $untilS);
        return true;
    }

    private function sweep(int $now): void
    {
        foreach (glob("$this->folder/used-*") ?: [] as $file) {
            if (@filemtime($file) < $now) {
                @unlink($file);
            }
        }
    }

    private static function own(string $folder): bool
    {
        if (!is_dir($folder)) {
            @mkdir($folder, 0700);
        }
        $isMine = !function_exists('posix_geteuid') || @fileowner($folder) === posix_geteuid();
        return is_dir($folder) && !is_link($folder) && is_writable($folder)
            && (DIRECTORY_SEPARATOR === '\\' || ($isMine && (fileperms($folder) & 0022) === 0));
    }

    private static function user(): string
    {
        return function_exists('posix_geteuid') ? (string) posix_geteuid() : get_current_user();
    }
}
