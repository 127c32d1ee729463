<?php

/**
 * Plugin Name: Gatepost
 * Description: Refuses sign-ups with throw-away addresses, and lets people in while the service is away.
 * Version: 0.4.0
 * Requires PHP: 8.1
 * License: MIT
 *
 * Copy this file to wp-content/plugins/gatepost/gatepost.php and the client's folder `src` beside it. Set in wp-config.php:
 *   define('GATEPOST_URL', 'https://gatepost.example');
 *   define('GATEPOST_KEY', 'gp_live_...');
 */

declare(strict_types=1);

defined('ABSPATH') || exit;

foreach ([__DIR__ . '/src/autoload.php', __DIR__ . '/../src/autoload.php'] as $gatepost_file) {
    if (is_file($gatepost_file)) {
        require_once $gatepost_file;
        break;
    }
}

/** The message for the person, or null if the sign-up goes on. */
function gatepost_problem(string $email): ?string
{
    static $client = null;
    if (!defined('GATEPOST_URL') || $email === '') {
        return null;
    }
    $key = defined('GATEPOST_KEY') && GATEPOST_KEY !== '' ? GATEPOST_KEY : null;
    $client ??= new Gatepost\Client(GATEPOST_URL, $key, form: 'wordpress');
    $language = str_replace('_', '-', determine_locale());
    $answer = $client->decide($email, language: $language, countBy: ['ip' => $_SERVER['REMOTE_ADDR'] ?? '']);
    return $answer->decision === 'reject' ? $answer->message ?? __('Please use another email address.') : null;
}

/** The form of wp-login.php, and that of WooCommerce, give errors, name and address. */
function gatepost_registration_errors(WP_Error $errors, string $login, string $email): WP_Error
{
    $problem = gatepost_problem($email);
    if ($problem !== null) {
        $errors->add('gatepost', esc_html($problem));
    }
    return $errors;
}

/**
 * A network of sites asks with one array.
 *
 * @param array{user_email: string, errors: WP_Error} $result
 * @return array{user_email: string, errors: WP_Error}
 */
function gatepost_network_sign_up(array $result): array
{
    $problem = gatepost_problem((string) $result['user_email']);
    if ($problem !== null) {
        $result['errors']->add('user_email', esc_html($problem));
    }
    return $result;
}

/** A person's own profile: WordPress reads the new address from $_POST after this, and asks for the errors then. */
function gatepost_profile(int $id): void
{
    $before = get_userdata($id)->user_email;
    $email = trim((string) wp_unslash($_POST['email'] ?? $before));
    $problem = $email === $before ? null : gatepost_problem($email);
    if ($problem === null) {
        return;
    }
    $_POST['email'] = wp_slash($before);
    add_action('user_profile_update_errors', function (WP_Error $errors) use ($problem): void {
        $errors->add('gatepost', esc_html($problem));
    });
}

/** The account page of WooCommerce. */
function gatepost_account_errors(WP_Error $errors, object $user): void
{
    $email = (string) ($user->user_email ?? '');
    $problem = $email === get_userdata((int) $user->ID)->user_email ? null : gatepost_problem($email);
    if ($problem !== null) {
        $errors->add('gatepost', esc_html($problem));
    }
}

add_action('personal_options_update', 'gatepost_profile', 5);
add_action('woocommerce_save_account_details_errors', 'gatepost_account_errors', 10, 2);
add_filter('registration_errors', 'gatepost_registration_errors', 10, 3);
add_filter('woocommerce_registration_errors', 'gatepost_registration_errors', 10, 3);
add_filter('wpmu_validate_user_signup', 'gatepost_network_sign_up');
