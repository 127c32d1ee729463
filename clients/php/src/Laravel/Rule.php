<?php

declare(strict_types=1);

namespace Gatepost\Laravel;

// Laravel 10 and later have one interface for rules, earlier ones another.
if (interface_exists(\Illuminate\Contracts\Validation\ValidationRule::class)) {
    interface Rule extends \Illuminate\Contracts\Validation\ValidationRule
    {
    }
} else {
    interface Rule extends \Illuminate\Contracts\Validation\Rule
    {
    }
}
