<?php

declare(strict_types=1);

namespace Gatepost;

/** Decides on sign-ups in time, and never loses one because a service is away. */
final class Client
{
    /** The service answers this long before the deadline, so that its answer arrives in time. */
    private const MARGIN_MS = 40;
    private const LEAST_MS = 50;
    private const MOST_MS = 5_000;
    private const BULK_DEADLINE_MS = 600_000;

    private readonly Exchange $exchange;
    private readonly Cache $cache;
    /** @var list<string> */
    private readonly array $secrets;
    /** @var \Closure(string, int): bool */
    private readonly \Closure $firstUse;
    /** @var \Closure(): int */
    private readonly \Closure $clock;
    /** @var (\Closure(GatepostException, string): void)|null */
    private readonly ?\Closure $onFault;
    /** @var \Closure(string): string */
    private readonly \Closure $away;

    /**
     * @param int $deadlineMs bounds every call: name, connection, TLS, sending, reading, trying again
     * @param string|callable(string): string $away the decision when the service does not decide in time, or a quick function of the
     *     address
     * @param string|null $cacheFolder a folder of this user alone, for what processes share; by default one in the folder for
     *     temporary files
     * @param string|list<string> $tokenSecret of the account, to verify tokens; while it changes, the new one and the old one
     * @param string|null $account the id that tokens must be made for
     * @param callable(string, int): bool|null $firstUse where ids of tokens are remembered, if not in $cacheFolder
     * @param (callable(GatepostException, string): void)|null $onFault gets every fault, to log or to count it, and 'decide'
     * @param callable(): int|null $clock seconds
     */
    public function __construct(
        string $url = 'http://127.0.0.1:8080',
        ?string $key = null,
        private readonly int $deadlineMs = 1_500,
        string|callable $away = 'accept',
        private readonly ?string $policy = null,
        private readonly ?string $language = null,
        private readonly ?string $form = null,
        ?string $cacheFolder = null,
        string|array $tokenSecret = [],
        private readonly ?string $account = null,
        ?callable $firstUse = null,
        ?callable $onFault = null,
        ?Transport $transport = null,
        ?callable $clock = null,
    ) {
        if (is_string($away) && !in_array($away, Decision::ALL, true)) {
            throw new \InvalidArgumentException("away: \"$away\" is not one of " . implode(', ', Decision::ALL));
        }
        if ($deadlineMs <= 0) {
            throw new \InvalidArgumentException("deadlineMs: $deadlineMs is not above 0");
        }
        $this->exchange = new Exchange($url, $key, $transport ?? new StreamTransport());
        $this->cache = new Cache($cacheFolder, $this->exchange->baseUrl);
        $this->secrets = (array) $tokenSecret;
        Tokens::checkSecrets($this->secrets);
        $this->away = is_string($away) ? fn (): string => $away : \Closure::fromCallable($away);
        $this->onFault = $onFault === null ? null : \Closure::fromCallable($onFault);
        $this->clock = \Closure::fromCallable($clock ?? 'time');
        $this->firstUse = \Closure::fromCallable($firstUse
            ?? fn (string $jti, int $exp): bool => $this->cache->first($jti, $exp, ($this->clock)()));
    }

    /**
     * Decides on a sign-up, with the parameters of docs/decide.md; `language` may be a whole Accept-Language header, and text in
     * `facts` is cut to 128 characters. Never throws because of the service, and answers by the deadline. Text that is blank or
     * longer than 1,000 characters is rejected without asking.
     *
     * `for` is 'send' for a message and 'invite' for an invitation, with a secret key. `confirmed`: the person saw your question about
     * the address, or passed your CAPTCHA. `known`: your cookie says that this browser has signed in to this account. `countBy`: who
     * asks, ['ip' => ..., 'inviter' => ...].
     *
     * @param array<string, string|int|float|bool> $facts
     * @param array<string, string|null> $countBy
     */
    public function decide(
        mixed $email,
        ?string $policy = null,
        ?string $language = null,
        ?string $form = null,
        array $facts = [],
        bool $token = false,
        ?int $deadlineMs = null,
        mixed $evt = null,
        ?string $nonce = null,
        ?string $origin = null,
        string $for = 'signup',
        bool $confirmed = false,
        bool $known = false,
        array $countBy = [],
    ): Decision {
        $entry = Entry::of($email);
        if ($entry === null) {
            return Decision::malformed();
        }
        try {
            $deadline = new Deadline($deadlineMs ?? $this->deadlineMs);
            $fields = [
                'email' => $entry,
                'for' => $for === 'signup' ? null : $for,
                'policy' => $policy ?? ($for === 'signup' ? $this->policy : null),
                'language' => Entry::language($language ?? $this->language),
                'form' => $form ?? $this->form,
                'facts' => Entry::facts($facts) ?: null,
                'token' => $token ?: null,
                'confirmed' => $confirmed ?: null,
                'known' => $known ?: null,
                'count_by' => Entry::countBy($countBy) ?: null,
                ...($evt ? ['evt' => $evt, 'nonce' => $nonce, 'origin' => $origin] : []),
                'deadline_ms' => min(max($deadline->ms - self::MARGIN_MS, self::LEAST_MS), self::MOST_MS),
            ];
            $answer = $this->exchange->ask('POST', '/api/decide', $deadline, array_filter($fields, fn ($each) => $each !== null));
            return Decision::read($answer->json());
        } catch (GatepostException $fault) {
            return $this->withoutAnswer($entry, $fault);
        } catch (\Throwable $fault) {
            // A mistake of the caller or of ours must not stop a sign-up either.
            return $this->withoutAnswer($entry, new GatepostException('request', $fault->getMessage()));
        }
    }

    /**
     * Whether a confirmation, code or link may be sent there now, with the options of `decide` by name. `send` is true where the policy
     * accepts, and where nobody answers. Needs a secret key.
     */
    public function maySend(mixed $email, mixed ...$options): MaySend
    {
        return new MaySend($this->decide($email, ...$options, for: 'send'));
    }

    /** Whether a member may invite this address; as `maySend`. Give `countBy: ['inviter' => ...]`. */
    public function mayInvite(mixed $email, mixed ...$options): MaySend
    {
        return new MaySend($this->decide($email, ...$options, for: 'invite'));
    }

    private function withoutAnswer(string $email, GatepostException $fault): Decision
    {
        $this->tell($fault);
        $refused = Decision::refusedBy($fault);
        if ($refused !== null) {
            return $refused;
        }
        try {
            $said = ($this->away)($email);
        } catch (\Throwable) {
            $said = 'accept'; // a function that fails lets the person in
        }
        return new Decision(in_array($said, Decision::ALL, true) ? $said : 'accept', 'unknown', source: 'away', fault: $fault);
    }

    /**
     * Checks an address or a domain.
     *
     * @param list<string> $features
     * @throws GatepostException when there is no answer
     */
    public function check(string $entry, array $features = [], ?int $deadlineMs = null): Result
    {
        $kind = str_contains($entry, '@') ? 'email' : 'domain';
        $fields = [$kind => $entry] + ($features === [] ? [] : ['features' => $features]);
        $deadline = new Deadline($deadlineMs ?? $this->deadlineMs);
        return Result::read($this->exchange->ask('POST', "/api/$kind", $deadline, $fields)->json());
    }

    /**
     * Says what became of a sign-up: 'abuse', 'bounce', 'complaint' or 'fine', by its address or by `mailbox`, the id of a decision. Needs a
     * secret key.
     *
     * @throws GatepostException when it is not stored
     */
    public function feedback(
        ?string $email = null,
        string $outcome = '',
        ?string $mailbox = null,
        ?string $note = null,
        ?int $deadlineMs = null,
    ): void {
        $fields = ['email' => $email, 'mailbox' => $mailbox, 'outcome' => $outcome, 'note' => $note];
        $given = array_filter($fields, fn ($each) => $each !== null);
        $deadline = new Deadline($deadlineMs ?? $this->deadlineMs);
        $answer = $this->exchange->ask('POST', '/api/feedback', $deadline, $given)->json();
        if (!is_array($answer) || ($answer['recorded'] ?? null) !== true) {
            throw new GatepostException('answer', 'The answer is not one of Gatepost.');
        }
    }

    /**
     * Ids of people that you have already, in order: `email`, `id` (null for what is no address), `former`. Nothing is counted. Needs a
     * secret key.
     *
     * @param list<string> $emails
     * @return list<array{email: string, id: string|null, former: list<string>}>
     * @throws GatepostException
     */
    public function mailboxes(array $emails, ?int $deadlineMs = null): array
    {
        $deadline = new Deadline($deadlineMs ?? $this->deadlineMs);
        $found = [];
        foreach (array_chunk($emails, 1000) as $some) {
            $answer = $this->exchange->ask('POST', '/api/mailboxes', $deadline, ['emails' => $some])->json();
            $rows = is_array($answer) ? ($answer['mailboxes'] ?? null) : null;
            if (!is_array($rows) || count($rows) !== count($some)) {
                throw new GatepostException('answer', 'The answer is not one of Gatepost.');
            }
            array_push($found, ...$rows);
        }
        return $found;
    }

    /**
     * Checks a list. The same idempotency key and entries are not checked and charged twice.
     *
     * @param list<string> $entries
     * @param (callable(Progress): void)|null $onProgress
     * @throws GatepostException when there are no results by the deadline; its session, and that of the progress, goes on with
     *     `resumeBulk`
     */
    public function bulk(
        array $entries,
        ?callable $onProgress = null,
        ?string $idempotencyKey = null,
        int $deadlineMs = self::BULK_DEADLINE_MS,
    ): BulkResult {
        $batch = new Batch($this->exchange, new Deadline($deadlineMs), $onProgress);
        return $batch->submit($entries, $idempotencyKey ?? bin2hex(random_bytes(16)));
    }

    /**
     * Waits for a batch that `bulk` submitted, here or in another process.
     *
     * @param (callable(Progress): void)|null $onProgress
     * @throws GatepostException
     */
    public function resumeBulk(
        string $session,
        ?callable $onProgress = null,
        int $deadlineMs = self::BULK_DEADLINE_MS,
    ): BulkResult {
        return (new Batch($this->exchange, new Deadline($deadlineMs), $onProgress))->resume($session);
    }

    /** Whether the service made this token for this account, address and form, and it is used for the first time. */
    public function verifyToken(string $token, string $email, ?string $form = null): TokenResult
    {
        if ($this->secrets === []) {
            throw new \InvalidArgumentException('tokenSecret: set it to verify tokens');
        }
        return Tokens::verify($token, $email, $this->secrets, ($this->clock)(), $this->firstUse, $this->account, $form);
    }

    private function tell(GatepostException $fault): void
    {
        try {
            if ($this->onFault !== null) {
                ($this->onFault)($fault, 'decide');
            }
        } catch (\Throwable) {
            // The caller's log must not stop a sign-up.
        }
    }
}
