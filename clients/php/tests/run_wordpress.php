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

function get_userdata(int $id): object
{
    return (object) ['ID' => $id, 'user_email' => 'old@mailinator.com'];
}

require __DIR__ . '/../wordpress/gatepost.php';

/** @return list<string> what the profile says when the person gives this address */
function changed(string $email): array
{
    remove_all_actions('user_profile_update_errors');
    $_POST['email'] = $email;
    do_action('personal_options_update', 7);
    $errors = new WP_Error();
    do_action('user_profile_update_errors', $errors);
    $isKept = $_POST['email'] === 'old@mailinator.com';
    return $isKept === $errors->has_errors() || $email === 'old@mailinator.com' ? $errors->get_error_messages() : ['the address'];
}

$seen = [];
foreach (json_decode($addresses) as $email) {
    foreach (['registration_errors', 'woocommerce_registration_errors'] as $hook) {
        $seen[$hook][] = apply_filters($hook, new WP_Error(), 'jo', $email)->get_error_messages();
    }
    $result = ['user_name' => 'jo', 'user_email' => $email, 'errors' => new WP_Error()];
    $seen['profile'][] = changed($email);
    do_action('woocommerce_save_account_details_errors', $errors = new WP_Error(), (object) ['ID' => 7, 'user_email' => $email]);
    $seen['account'][] = $errors->get_error_messages();
    $seen['network'][] = apply_filters('wpmu_validate_user_signup', $result)['errors']->get_error_messages('user_email');
}
echo json_encode($seen);
