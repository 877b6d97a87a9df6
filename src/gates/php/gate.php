<?php

declare(strict_types=1);

/**
 * The decision of a gate in PHP 8.1 with the sodium extension, which PHP contains. `decide` and `settle` are pure: the
 * record of the gate, the published keys, the ended grants, the clock and the request go in, a decision comes out.
 * Reading those, calling Usher and writing the answer is the adapter's. The kinds of decisions: `pass` (to the site), `ask` (call
 * the queue's pass, then `settle`), `return` and `room` (303 to the location), `wait` (429), `closed` (503).
 */
namespace Usher;

final class Gate
{
    private const TOKEN_LENGTH_MAX = 4096;
    private const COOKIES_MAX = 4;
    private const FORM_TYPE = 'application/x-www-form-urlencoded';
    /** For which a browser that was sent to the room may return. */
    private const STATE_SECONDS = 86_400;
    private const CLOSED = ['kind' => 'closed', 'retryAfterSeconds' => 5];

    /** @var list<string> */
    private array $keys = [];

    /**
     * @param array $gate the answer of `GET /gates/{gateId}`
     * @param array $keySet the answer of its `keysUrl`
     * @param list<string> $ended the `jti` of ended grants
     * @param int $now milliseconds since the Unix epoch
     * @param string $newState a random text, new for each request, that names a browser which is sent to the room
     */
    public function __construct(
        private array $gate,
        array $keySet,
        private array $ended,
        private bool $isReachable,
        private int $now,
        private string $newState
    ) {
        foreach ($keySet['keys'] as $key) {
            if (($key['crv'] ?? '') === 'Ed25519') {
                $this->keys[] = self::bytesOf($key['x']);
            }
        }
    }

    /** @param array $request `method`, `target`, `headers` by names in lower case; perhaps `form`, `crawler` */
    public function decide(array $request): array
    {
        if (self::pathOf($request['target']) === $this->gate['returnPath']) {
            return $this->returned($request);
        }
        $rule = $this->ruleFor($request);
        if ($rule === null || $rule['then'] === 'pass') {
            return ['kind' => 'pass'];
        }
        $queueId = $rule['then']['queueId'];
        $queue = $this->gate['queues'][$queueId] ?? null;
        if ($queue === null) {
            return $this->failed($rule);
        }
        $name = $this->cookieName($request, $queue['experienceId']);
        foreach (array_slice(self::cookiesIn($request, $name), 0, self::COOKIES_MAX) as $token) {
            $claims = $this->grantIn($token);
            if ($claims !== null && $claims['experienceId'] === $queue['experienceId']) {
                return ['kind' => 'pass', 'jti' => $claims['jti']];
            }
        }
        $state = $queue['state'] ?? 'open';
        if ($state === 'ended') {
            return self::ended($rule);
        }
        if (!$this->isReachable) {
            return $state === 'scheduled' ? self::CLOSED : $this->failed($rule);
        }
        return $queue['engaged']
            ? $this->sentAway($request, $queue['roomUrl'])
            : ['kind' => 'ask', 'queueId' => $queueId];
    }

    /**
     * What follows from the answer of `pass`. Its status is `ROOM` if Usher does not take the visitor from a gate now,
     * `ENDED` if the queue has ended, `REFUSED` if there is no such queue, `FAILED` if there was no answer.
     */
    public function settle(array $request, array $answer): array
    {
        if ($answer['status'] === 'QUEUED') {
            return $this->sentAway($request, $answer['roomUrl']);
        }
        if ($answer['status'] === 'REFUSED') {
            return self::CLOSED;
        }
        $rule = $this->ruleFor($request);
        if ($answer['status'] === 'ENDED') {
            return self::ended($rule);
        }
        $queue = $this->gate['queues'][$rule['then']['queueId'] ?? ''] ?? null;
        if ($answer['status'] === 'ROOM' && $queue !== null) {
            return $this->sentAway($request, $queue['roomUrl']);
        }
        $token = $answer['status'] === 'GRANTED' ? $answer['admissionGrant'] : '';
        $claims = $this->grantIn($token);
        return $claims === null
            ? $this->failed($rule)
            : ['kind' => 'pass', 'jti' => $claims['jti'], 'cookie' => $this->cookieOf($request, $token, $claims)];
    }

    /**
     * A grant counts only from the browser that was sent away, and once: another one may have been led here with a grant
     * of its own, and a request may be repeated. One that does not count leads on too: the page's own rule decides.
     */
    private function returned(array $request): array
    {
        $query = explode('?', $request['target'], 2)[1] ?? '';
        $decision = ['kind' => 'return', 'location' => self::pageIn(self::fieldIn($query, 'to') ?? '/')];
        $isForm = str_starts_with(strtolower($request['headers']['content-type'] ?? ''), self::FORM_TYPE);
        $isOfBrowser = in_array(self::fieldIn($query, 'state'), $this->statesIn($request), true);
        if ($request['method'] !== 'POST' || !$isForm || !$isOfBrowser) {
            return $decision;
        }
        $token = self::fieldIn($request['form'] ?? '', 'usher_grant') ?? '';
        $claims = $this->grantIn($token);
        return $claims === null ? $decision : $decision + [
            'cookies' => [$this->cookieOf($request, $token, $claims), $this->stateCookie($request, '', 0)],
        ];
    }

    /** The claims of a grant that opens one of the gate's queues. */
    private function grantIn(string $token): ?array
    {
        $isToken = strlen($token) <= self::TOKEN_LENGTH_MAX
            && preg_match('/^([\w-]+\.([\w-]+))\.([\w-]+)$/D', $token, $parts) === 1;
        if (!$isToken || !$this->isSigned($parts[1], self::bytesOf($parts[3]))) {
            return null;
        }
        $claims = json_decode(self::bytesOf($parts[2]), true);
        $expected = [
            'type' => 'admission',
            'iss' => 'usher',
            'aud' => 'usher:admission',
            'organizationId' => $this->gate['organizationId'],
            'mode' => $this->gate['mode'] ?? 'live',
        ];
        foreach ($expected as $name => $value) {
            if (($claims[$name] ?? null) !== $value) {
                return null;
            }
        }
        $isOver = isset($claims['exp']) && $claims['exp'] * 1000 <= $this->now;
        $isOfGate = in_array($claims['experienceId'], array_column($this->gate['queues'], 'experienceId'), true);
        return $isOver || !$isOfGate || in_array($claims['jti'], $this->ended, true) ? null : $claims;
    }

    private function isSigned(string $signed, string $signature): bool
    {
        if (strlen($signature) !== SODIUM_CRYPTO_SIGN_BYTES) {
            return false;
        }
        foreach ($this->keys as $key) {
            if (sodium_crypto_sign_verify_detached($signature, $signed, $key)) {
                return true;
            }
        }
        return false;
    }

    private function failed(?array $rule): array
    {
        $isOpen = ($rule['failMode'] ?? $this->gate['failMode']) === 'open';
        return $isOpen ? ['kind' => 'pass'] : self::CLOSED;
    }

    /** What a queue protected stays closed after its end, whatever the fail mode says. */
    private static function ended(?array $rule): array
    {
        $passes = ($rule['afterEnd'] ?? 'closed') === 'pass';
        return $passes ? ['kind' => 'pass'] : ['kind' => 'closed', 'retryAfterSeconds' => 60, 'because' => 'ended'];
    }

    private function sentAway(array $request, string $roomUrl): array
    {
        if (!self::isNavigation($request['headers'])) {
            return ['kind' => 'wait', 'roomUrl' => $roomUrl, 'retryAfterSeconds' => 10];
        }
        $host = $this->hostOf($request);
        $origin = (self::isLocal($host) ? 'http://' : 'https://') . $host;
        // The tabs of a browser share its state.
        $state = $this->statesIn($request)[0] ?? $this->newState;
        $to = rawurlencode(self::pageIn($request['target']));
        $back = $origin . $this->gate['returnPath'] . "?to=$to&state=$state";
        $mark = str_contains($roomUrl, '?') ? '&' : '?';
        return [
            'kind' => 'room',
            'location' => $roomUrl . $mark . 'return=' . rawurlencode($back),
            'cookie' => $this->stateCookie($request, $state, self::STATE_SECONDS),
        ];
    }

    /** Its path is always the root: the return path must get it. */
    private function stateName(array $request): string
    {
        $prefix = isset($this->gate['cookie']['domain']) ? '__Secure-' : '__Host-';
        return (self::isLocal($this->hostOf($request)) ? '' : $prefix) . 'usher-state';
    }

    /** @return list<string> */
    private function statesIn(array $request): array
    {
        $values = array_slice(self::cookiesIn($request, $this->stateName($request)), 0, self::COOKIES_MAX);
        return array_values(preg_grep('/^[\w-]{20,64}$/D', $values));
    }

    /** The room may be another site, which posts the grant: a browser sends only `SameSite=None` cookies with such a form. */
    private function stateCookie(array $request, string $state, int $maxAge): string
    {
        return $this->stateName($request) . "=$state; Path=/"
            . (isset($this->gate['cookie']['domain']) ? '; Domain=' . $this->gate['cookie']['domain'] : '')
            . '; HttpOnly; SameSite=' . (self::isLocal($this->hostOf($request)) ? 'Lax' : 'None; Secure')
            . "; Max-Age=$maxAge";
    }

    private static function isNavigation(array $headers): bool
    {
        return !isset($headers['x-requested-with'])
            && ($headers['sec-fetch-mode'] ?? 'navigate') === 'navigate'
            && str_contains(strtolower($headers['accept'] ?? ''), 'text/html');
    }

    /** The host of a request with its port if it is the gate's, else the gate's first. */
    private function hostOf(array $request): string
    {
        $host = strtolower($request['headers']['host'] ?? '');
        $isHost = preg_match('/^([a-z0-9.-]+?)\.?(:[0-9]{1,5})?$/D', $host, $parts) === 1;
        $isOwn = $isHost && in_array($parts[1], $this->gate['hosts'], true);
        return $isOwn ? $parts[1] . ($parts[2] ?? '') : $this->gate['hosts'][0];
    }

    private static function isLocal(string $host): bool
    {
        return preg_match('/^(localhost|127\.0\.0\.1)(:|$)/D', $host) === 1;
    }

    /** `__Host-` keeps out cookies that other hosts of the domain have set. */
    private function cookieName(array $request, string $experienceId): string
    {
        $cookie = $this->gate['cookie'];
        $prefix = !isset($cookie['domain']) && ($cookie['path'] ?? '/') === '/' ? '__Host-' : '__Secure-';
        $name = ($cookie['name'] ?? 'usher-grant') . '-' . $experienceId;
        return self::isLocal($this->hostOf($request)) ? $name : $prefix . $name;
    }

    private function cookieOf(array $request, string $token, array $claims): string
    {
        $cookie = $this->gate['cookie'];
        $left = isset($claims['exp']) ? max(1, (int) floor($claims['exp'] - $this->now / 1000)) : null;
        return $this->cookieName($request, $claims['experienceId']) . '=' . $token
            . '; Path=' . ($cookie['path'] ?? '/')
            . (isset($cookie['domain']) ? '; Domain=' . $cookie['domain'] : '')
            . '; HttpOnly; SameSite=Lax'
            . (self::isLocal($this->hostOf($request)) ? '' : '; Secure')
            . ($left === null ? '' : '; Max-Age=' . $left);
    }

    /** A page of the same site: no other host, no backslash that browsers read as a slash, no line break. */
    private static function pageIn(string $page): string
    {
        $isPage = preg_match('~^/(?:[!-.0-[\]-\~][!-[\]-\~]{0,1998})?$~D', $page) === 1;
        return $isPage ? $page : '/';
    }

    /** The first field of this name in a query or form. */
    private static function fieldIn(string $text, string $name): ?string
    {
        foreach (explode('&', $text) as $pair) {
            if (str_starts_with($pair, $name . '=')) {
                return urldecode(substr($pair, strlen($name) + 1));
            }
        }
        return null;
    }

    /** The first rule that fits. One that protects fits by any reading of the path, one that lets pass by all. */
    private function ruleFor(array $request): ?array
    {
        $sent = rawurldecode(self::pathOf($request['target']));
        $resolved = self::resolved(rawurldecode(rawurldecode($sent)));
        foreach ($this->gate['rules'] as $rule) {
            $lets = $rule['then'] === 'pass';
            $one = self::fitsPath($rule['when'], $lets, $sent);
            $other = self::fitsPath($rule['when'], $lets, $resolved);
            if (($lets ? $one && $other : $one || $other) && self::fitsRest($rule['when'], $request)) {
                return $rule;
            }
        }
        return null;
    }

    private static function fitsPath(array $when, bool $lets, string $reading): bool
    {
        $path = isset($when['path']) ? rawurldecode($when['path']) : null;
        $prefix = rawurldecode($when['pathPrefix'] ?? '');
        if ($lets) {
            return ($path === null || $path === $reading) && str_starts_with($reading, $prefix);
        }
        $isPath = $path === null || strtolower(rtrim($path, '/')) === strtolower(rtrim($reading, '/'));
        return $isPath && str_starts_with(strtolower($reading), strtolower($prefix));
    }

    private static function fitsRest(array $when, array $request): bool
    {
        if (isset($when['methods']) && !in_array($request['method'], $when['methods'], true)) {
            return false;
        }
        if (isset($when['header'])) {
            $value = $request['headers'][strtolower($when['header']['name'])] ?? null;
            if ($value === null || $value !== ($when['header']['value'] ?? $value)) {
                return false;
            }
        }
        if (isset($when['cookie']) && self::cookiesIn($request, $when['cookie']) === []) {
            return false;
        }
        return !isset($when['crawler']) || $when['crawler'] === ($request['crawler'] ?? null);
    }

    /** @return list<string> the values of all cookies of this name */
    private static function cookiesIn(array $request, string $name): array
    {
        $values = [];
        foreach (explode(';', $request['headers']['cookie'] ?? '') as $pair) {
            $pair = trim($pair);
            if (str_starts_with($pair, $name . '=')) {
                $values[] = substr($pair, strlen($name) + 1);
            }
        }
        return $values;
    }

    /** The path of a target, without scheme and host where a proxy sends them. */
    private static function pathOf(string $target): string
    {
        $path = preg_replace(['~^https?://[^/?#]*~i', '~[?#].*$~s'], '', $target);
        return $path === '' ? '/' : $path;
    }

    /** Without empty and dot segments, backslashes and parameters of segments. */
    private static function resolved(string $path): string
    {
        $path = strtr($path, '\\', '/');
        $segments = [];
        foreach (explode('/', $path) as $part) {
            $segment = explode(';', $part)[0];
            if ($segment === '..') {
                array_pop($segments);
            } elseif ($segment !== '' && $segment !== '.') {
                $segments[] = $segment;
            }
        }
        $isFolder = $segments !== [] && str_ends_with($path, '/');
        return '/' . implode('/', $segments) . ($isFolder ? '/' : '');
    }

    private static function bytesOf(string $base64url): string
    {
        return (string) base64_decode(strtr($base64url, '-_', '+/'));
    }
}
