<?php

declare(strict_types=1);

// For projects without Composer.
spl_autoload_register(function (string $class): void {
    $file = __DIR__ . '/' . str_replace('\\', '/', substr($class, strlen('Gatepost\\'))) . '.php';
    if (str_starts_with($class, 'Gatepost\\') && is_file($file)) {
        require $file;
    }
});
