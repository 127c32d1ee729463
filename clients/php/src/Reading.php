<?php

declare(strict_types=1);

namespace Gatepost;

/** Reads one answer from a connection. Refuses what is not HTTP/1.1, and what is longer than allowed. */
final class Reading
{
    private const HEAD_MAX = 16_384;

    public function __construct(
        private readonly Connection $from,
        private readonly Deadline $deadline,
        private readonly int $limit,
    ) {
    }

    /** @return array{Response, bool} the answer, and whether the connection may carry another request */
    public function response(): array
    {
        do {
            [$version, $status, $headers] = $this->head();
        } while ($status < 200);
        $isKept = $version === 'HTTP/1.1' && strtolower($headers['connection'] ?? '') !== 'close';
        if ($status === 204 || $status === 304) {
            $body = '';
        } elseif (isset($headers['transfer-encoding'])) {
            $body = strtolower($headers['transfer-encoding']) === 'chunked'
                ? $this->chunks()
                : throw self::broken('an unknown transfer encoding');
        } elseif (isset($headers['content-length'])) {
            $length = self::number($headers['content-length'], 10);
            $body = $this->take($this->allowed($length));
        } else {
            [$body, $isKept] = [$this->rest(), false];
        }
        return [new Response($status, $headers, $body), $isKept && $this->from->buffer === ''];
    }

    /** @return array{string, int, array<string, string>} */
    private function head(): array
    {
        $lines = [];
        $size = 0;
        while (($line = $this->line()) !== '') {
            $lines[] = $line;
            $size += strlen($line);
            if ($size > self::HEAD_MAX) {
                throw self::broken('headers of more than 16 KiB');
            }
        }
        if (preg_match('/\A(HTTP\/1\.[01]) (\d{3})(?: |\z)/', array_shift($lines) ?? '', $first) !== 1) {
            throw self::broken('an answer that is not HTTP/1.1');
        }
        $headers = [];
        foreach ($lines as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => null];
            $headers[strtolower($name)] = trim($value ?? throw self::broken('a header without a colon'));
        }
        return [$first[1], (int) $first[2], $headers];
    }

    private function chunks(): string
    {
        $body = '';
        while (($size = self::number(explode(';', $this->line())[0], 16)) !== 0) {
            $this->allowed(strlen($body) + $size);
            $body .= $this->take($size);
            if ($this->line() !== '') {
                throw self::broken('a chunk of another length than it says');
            }
        }
        while ($this->line() !== '') {
            // trailers
        }
        return $body;
    }

    private function line(): string
    {
        while (($end = strpos($this->from->buffer, "\r\n")) === false) {
            if (strlen($this->from->buffer) > self::HEAD_MAX) {
                throw self::broken('a line of more than 16 KiB');
            }
            $this->more();
        }
        $line = substr($this->from->buffer, 0, $end);
        $this->from->buffer = substr($this->from->buffer, $end + 2);
        return $line;
    }

    private function take(int $length): string
    {
        while (strlen($this->from->buffer) < $length) {
            $this->more();
        }
        $taken = substr($this->from->buffer, 0, $length);
        $this->from->buffer = substr($this->from->buffer, $length);
        return $taken;
    }

    private function rest(): string
    {
        do {
            $this->allowed(strlen($this->from->buffer));
        } while ($this->from->more($this->deadline));
        return $this->from->buffer;
    }

    private function more(): void
    {
        if (!$this->from->more($this->deadline)) {
            throw new GatepostException('network', 'the connection ended before the answer did');
        }
    }

    private function allowed(int $length): int
    {
        return $length <= $this->limit ? $length : throw self::broken("an answer of more than $this->limit octets");
    }

    private static function number(string $text, int $base): int
    {
        $isNumber = preg_match($base === 16 ? '/\A[0-9a-f]{1,12}\z/i' : '/\A[0-9]{1,12}\z/', trim($text)) === 1;
        return $isNumber ? intval(trim($text), $base) : throw self::broken('a length that is not a number');
    }

    private static function broken(string $detail): GatepostException
    {
        return new GatepostException('answer', $detail);
    }
}
