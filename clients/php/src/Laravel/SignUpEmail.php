<?php

declare(strict_types=1);

namespace Gatepost\Laravel;

use Closure;
use Gatepost\Client;
use Illuminate\Container\Container;

/**
 * `'email' => ['required', 'email', new SignUpEmail]`. Add `challenge` to `$blocks` where the form lets people confirm an address
 * that looks mistyped.
 */
final class SignUpEmail implements Rule
{
    public const DEFAULT_MESSAGE = 'Please use another email address.';

    private string $message = self::DEFAULT_MESSAGE;

    /** @param list<string> $blocks decisions that fail the field */
    public function __construct(
        private readonly array $blocks = ['reject'],
        private readonly ?string $form = null,
        private readonly ?string $language = null,
    ) {
    }

    /** Laravel 10 and later. */
    public function validate(string $attribute, mixed $value, Closure $fail): void
    {
        if (!$this->passes($attribute, $value)) {
            $fail($this->message);
        }
    }

    public function passes($attribute, $value): bool
    {
        $client = Container::getInstance()->make(Client::class);
        $answer = $client->decide($value, language: $this->language, form: $this->form);
        $this->message = $answer->message ?? self::DEFAULT_MESSAGE;
        return !in_array($answer->decision, $this->blocks, true);
    }

    public function message(): string
    {
        return $this->message;
    }
}
