<?php

declare(strict_types=1);

namespace Gatepost\Laravel;

use Gatepost\Client;
use Illuminate\Support\ServiceProvider;

/** Makes one client from `gatepost` in config/services.php: `['url' => ..., 'key' => ..., 'deadlineMs' => 800]`. */
final class GatepostServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $this->app->singleton(Client::class, fn ($app): Client => new Client(...$app['config']['services.gatepost']));
    }
}
