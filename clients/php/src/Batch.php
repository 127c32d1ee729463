<?php

declare(strict_types=1);

namespace Gatepost;

/** One list: submitted once, however often the connection breaks, and read when it is finished. */
final class Batch
{
    private const ANSWER_MAX = 200_000_000;
    private const LOOK_FIRST_S = 0.2;
    private const LOOK_LAST_S = 5.0;

    /** @var (\Closure(Progress): void)|null */
    private readonly ?\Closure $onProgress;

    public function __construct(private readonly Exchange $exchange, private readonly Deadline $deadline, ?callable $onProgress)
    {
        $this->onProgress = $onProgress === null ? null : \Closure::fromCallable($onProgress);
    }

    /** @param list<string> $entries */
    public function submit(array $entries, string $idempotencyKey): BulkResult
    {
        $fields = ['bulk' => true, 'json' => true, 'email' => implode("\n", $entries)];
        $answer = $this->ask('POST', '/api/email', $fields, ['Idempotency-Key' => $idempotencyKey]);
        return isset($answer['results']) ? $this->finished($answer) : $this->resume($answer['session']);
    }

    public function resume(string $session): BulkResult
    {
        $pause = self::LOOK_FIRST_S;
        try {
            while (true) {
                $answer = $this->ask('GET', '/api/view/' . rawurlencode($session) . '/json');
                if (isset($answer['results'])) {
                    return $this->finished($answer);
                }
                $this->report($answer);
                usleep((int) (min($pause, $this->deadline->left()) * 1e6));
                $pause = min($pause * 1.5, self::LOOK_LAST_S);
            }
        } catch (GatepostException $fault) {
            $fault->session = $session;
            throw $fault;
        }
    }

    /**
     * @param array<string, mixed>|null $fields
     * @param array<string, string> $headers
     * @return array<string, mixed>
     */
    private function ask(string $method, string $path, ?array $fields = null, array $headers = []): array
    {
        $response = $this->exchange->ask($method, $path, $this->deadline, $fields, $headers, self::ANSWER_MAX, true);
        $value = $response->json();
        return is_array($value) && is_string($value['session'] ?? null)
            ? $value
            : throw new GatepostException('answer', 'the answer is not one about a batch');
    }

    /** @param array<string, mixed> $answer */
    private function report(array $answer): void
    {
        [$status, $done, $total] = [$answer['status'] ?? null, $answer['processed_count'] ?? 0, $answer['email_count'] ?? null];
        if ($status === 'failed') {
            throw new GatepostException('failed', 'the batch failed');
        }
        if (!is_string($status) || !is_int($done) || !is_int($total)) {
            throw new GatepostException('answer', 'the answer is not the progress of a batch');
        }
        if ($this->onProgress !== null) {
            ($this->onProgress)(new Progress($answer['session'], $status, $done, $total));
        }
    }

    /** @param array<string, mixed> $answer */
    private function finished(array $answer): BulkResult
    {
        $unique = $answer['stats']['unique'] ?? null;
        if (!is_int($unique) || !is_array($answer['results'])) {
            throw new GatepostException('answer', 'the answer has no results');
        }
        if ($this->onProgress !== null) {
            ($this->onProgress)(new Progress($answer['session'], 'completed', $unique, $unique));
        }
        $results = array_map(Result::read(...), $answer['results']);
        return new BulkResult($answer['session'], $answer['stats'], $results);
    }
}
