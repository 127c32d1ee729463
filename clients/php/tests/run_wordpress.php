<?php

declare(strict_types=1);

// What WordPress's own hooks answer about addresses, with its sources: run_wordpress.php FOLDER URL ADDRESSES_AS_JSON

[, $folder, $url, $addresses] = $argv;
define('ABSPATH', "$folder/");
define('WPINC', 'wp-includes');
define('GATEPOST_URL', $url);
foreach (['plugin', 'class-wp-error', 'load', 'functions', 'l10n', 'formatting', 'pomo/translations', 'kses'] as $part) {
    require_once ABSPATH . WPINC . "/$part.php";
}
add_filter('pre_option_blog_charset', fn () => 'UTF-8');
$locale = 'de_DE';

require __DIR__ . '/../wordpress/gatepost.php';

$seen = [];
foreach (json_decode($addresses) as $email) {
    foreach (['registration_errors', 'woocommerce_registration_errors'] as $hook) {
        $seen[$hook][] = apply_filters($hook, new WP_Error(), 'jo', $email)->get_error_messages();
    }
    $result = ['user_name' => 'jo', 'user_email' => $email, 'errors' => new WP_Error()];
    $seen['network'][] = apply_filters('wpmu_validate_user_signup', $result)['errors']->get_error_messages('user_email');
}
echo json_encode($seen);
