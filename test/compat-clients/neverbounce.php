<?php
// Asks as NeverBounce's PHP client does, which no registry at hand holds: a form by POST, and only the exact type
// "application/json" is read. Prints what it gave: client -> [disposable, good, wrong key].
function verify(string $key, string $path, array $fields): string
{
    $type = 'application/x-www-form-urlencoded';
    $options = ['method' => 'POST', 'header' => "Content-Type: $type", 'content' => http_build_query($fields + ['key' => $key])];
    $url = getenv('COMPAT_URL') . "/compat/neverbounce/v4/$path";
    $body = file_get_contents($url, false, stream_context_create(['http' => $options]));
    $types = preg_grep('/^content-type:/i', $http_response_header);
    if (count($types) !== 1 || strtolower(trim(explode(':', current($types), 2)[1])) !== 'application/json') {
        return 'type: ' . implode(', ', $types);
    }
    $told = json_decode($body, true);
    return $told['status'] === 'success' ? $told['result'] ?? 'success' : $told['status'] . (isset($told['message']) ? '' : ' without message');
}

$key = getenv('COMPAT_KEY');
$single = fn (string $key, string $email) => verify($key, 'single/check', compact('email'));
echo json_encode([
    'php neverbounce' => [$single($key, 'jo@bad.example'), $single($key, 'jo@good.example'), $single('wrong-key', 'jo@good.example')],
    'php neverbounce, the account' => [verify($key, 'account/info', []), verify('wrong-key', 'account/info', [])],
]);
