<?php

declare(strict_types=1);

// What Laravel's validator answers about addresses: run_laravel.php URL ADDRESSES_AS_JSON

use Gatepost\Laravel\GatepostServiceProvider;
use Gatepost\Laravel\SignUpEmail;
use Illuminate\Container\Container;
use Illuminate\Translation\ArrayLoader;
use Illuminate\Translation\Translator;
use Illuminate\Validation\Factory;

require 'Illuminate/Validation/autoload.php';
require __DIR__ . '/../src/autoload.php';

$app = new Container();
Container::setInstance($app);
$app->instance('config', ['services.gatepost' => ['url' => $argv[1], 'deadlineMs' => 10_000]]);
(new GatepostServiceProvider($app))->register();

$factory = new Factory(new Translator(new ArrayLoader(), 'de'), $app);
$errors = function (string $email, SignUpEmail $rule) use ($factory): array {
    return $factory->make(['email' => $email], ['email' => ['required', $rule]])->errors()->all();
};
// The interface of later versions, as their validator calls it.
$later = function (string $email, SignUpEmail $rule): array {
    $said = [];
    $rule->validate('email', $email, function (string $text) use (&$said): void {
        $said[] = $text;
    });
    return $said;
};
foreach ([['jo@mailinator.com'], 1, true] as $value) {
    $said = $factory->make(['email' => $value], ['email' => ['required', new SignUpEmail()]])->errors()->all();
    assert($said === ['Please enter a complete email address.']);
}
$seen = [];
foreach (json_decode($argv[2]) as $email) {
    $seen['laravel'][] = $errors($email, new SignUpEmail(language: 'de'));
    $seen['challenging'][] = $errors($email, new SignUpEmail(['challenge', 'reject'], language: 'de'));
    $seen['later'][] = $later($email, new SignUpEmail(language: 'de'));
}
echo json_encode($seen);
