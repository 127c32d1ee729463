<?php

declare(strict_types=1);

namespace Gatepost;

/**
 * The pocket list between processes. PHP has no background: a web request refreshes an old list after its answer was sent, for
 * a short time and by one process; `gatepost-pocket` does it from cron.
 */
final class PocketKeeper
{
    private const EVERY_S = 3_600;
    private const AGAIN_S = 60;

    private ?Pocket $pocket = null;
    private bool $isPlanned = false;

    /**
     * @param \Closure(array<string, string>, Deadline): Response $fetch
     * @param \Closure(GatepostException, string): void $tell
     */
    public function __construct(
        private readonly Cache $cache,
        private readonly \Closure $fetch,
        private readonly \Closure $tell,
        private readonly int $budgetMs,
    ) {
    }

    public function pocket(): ?Pocket
    {
        if ($this->pocket === null) {
            $file = $this->cache->read('pocket');
            try {
                $this->pocket = $file === null ? null : new Pocket($file);
            } catch (\UnexpectedValueException) {
                // Written by another version: the next refresh replaces it.
            }
        }
        return $this->pocket;
    }

    /** Plans a refresh at the end of this request if the list is old. */
    public function plan(): void
    {
        if ($this->isPlanned || $this->budgetMs <= 0 || $this->cache->age('pocket') < self::EVERY_S
            || $this->cache->age('tried') < self::AGAIN_S) {
            return;
        }
        $this->cache->write('tried', '');
        if (PHP_SAPI === 'cli') {
            $this->refresh($this->budgetMs); // a worker has no end of a request
            return;
        }
        $this->isPlanned = true;
        register_shutdown_function(function (): void {
            if (function_exists('fastcgi_finish_request')) {
                fastcgi_finish_request();
            }
            $this->refresh($this->budgetMs);
        });
    }

    /** The old list is better than none: it stays when there is no new one. */
    public function refresh(int $withinMs): bool
    {
        try {
            $etag = $this->pocket() === null ? null : $this->cache->read('etag');
            $headers = $etag === null ? [] : ['If-None-Match' => $etag];
            $response = ($this->fetch)($headers, new Deadline($withinMs));
            if ($response->status === 304) {
                $this->cache->touch('pocket');
                return true;
            }
            $this->pocket = new Pocket($response->body);
            $this->cache->write('etag', $response->headers['etag'] ?? '');
            $this->cache->write('pocket', $response->body);
            return true;
        } catch (GatepostException $fault) {
        } catch (\UnexpectedValueException $unlike) {
            $fault = new GatepostException('answer', $unlike->getMessage());
        }
        ($this->tell)($fault, 'pocket');
        return false;
    }
}
