<?php

declare(strict_types=1);

namespace Gatepost;

/** One socket that never blocks beyond a deadline. */
final class Connection
{
    private const PIECE = 65_536;
    private const TLS_LOOK_S = 0.02;
    /** PHP reads the certificate authorities anew for each connection, and nothing interrupts it. */
    private const TLS_READS_S = 0.03;

    public string $buffer = '';
    public bool $hasAnswered = false;

    /** @param resource $stream */
    private function __construct(private $stream)
    {
    }

    /** @param array<string, mixed>|null $tls null: without TLS */
    public static function open(string $target, float $within, ?array $tls, Deadline $deadline): self
    {
        $context = stream_context_create(['ssl' => $tls ?? [], 'socket' => ['tcp_nodelay' => true]]);
        $stream = @stream_socket_client("tcp://$target", $number, $detail, $within, STREAM_CLIENT_CONNECT, $context);
        if ($stream === false) {
            $deadline->left();
            throw self::broken($detail ?: "no connection to $target");
        }
        stream_set_blocking($stream, false);
        if ($tls !== null) {
            self::encrypt($stream, $deadline);
        }
        return new self($stream);
    }

    /** @param resource $stream */
    private static function encrypt($stream, Deadline $deadline): void
    {
        if ($deadline->left() < self::TLS_READS_S) {
            throw $deadline->passed();
        }
        error_clear_last();
        while (($done = @stream_socket_enable_crypto($stream, true, STREAM_CRYPTO_METHOD_TLS_CLIENT)) !== true) {
            if ($done === false) {
                throw self::broken(error_get_last()['message'] ?? 'TLS failed');
            }
            $deadline->wait([$stream], [], self::TLS_LOOK_S);
        }
    }

    public function write(string $octets, Deadline $deadline): void
    {
        while ($octets !== '') {
            $written = @fwrite($this->stream, $octets);
            if ($written === false) {
                throw new GatepostException('network', 'the connection was closed');
            }
            $octets = substr($octets, $written);
            if ($octets !== '') {
                $deadline->wait([], [$this->stream]);
            }
        }
    }

    /** Adds at least one octet to the buffer; false at the end. */
    public function more(Deadline $deadline): bool
    {
        while (true) {
            $deadline->left(); // passes, too, while the other side never stops
            $piece = @fread($this->stream, self::PIECE);
            if ($piece !== false && $piece !== '') {
                $this->hasAnswered = true;
                $this->buffer .= $piece;
                return true;
            }
            if (feof($this->stream)) {
                return false;
            }
            $deadline->wait([$this->stream]);
        }
    }

    /** An idle connection that has something to say was closed by the server. */
    public function isSilent(): bool
    {
        return $this->buffer === '' && @fread($this->stream, 1) === '' && !feof($this->stream);
    }

    private static function broken(string $detail): GatepostException
    {
        return new GatepostException('network', $detail);
    }
}
