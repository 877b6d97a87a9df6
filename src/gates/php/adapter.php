<?php

declare(strict_types=1);

/**
 * A gate inside of a site in PHP 8.1, with or without a framework. Needs `gate.php` beside it. First of all:
 *
 *     require 'adapter.php';
 *     (new Usher\Site('https://usher.example.com', $gateId, $key, '/var/lib/shop/usher'))->guard();
 *
 * PHP forgets everything between requests, so record, keys, ended grants and visitors are files in a folder, which the
 * site alone may write: who changes them is let in. One request a second brings them up to date, after its answer where
 * PHP runs under FPM. A new visitor costs one call of `pass`. While Usher is out of reach nobody waits for it.
 */
namespace Usher;

require_once __DIR__ . '/gate.php';

/** Usher has answered with a refusal. Any error but this one and `Late` means that it is out of reach. */
final class Refused extends \RuntimeException
{
}

/** A call has no answer, although Usher answers others. */
final class Late extends \RuntimeException
{
}

final class Site
{
    // Seconds.
    private const PATIENCE = 0.9;
    /** A call that ends so much after its patience says that this process had no processor, and nothing about Usher. */
    private const STALLED = 0.1;
    private const BREAK = 1;
    private const RECORD = 10;
    private const ENGAGED_RECORD = 2;
    private const KEYS = 60;
    private const ENDED = 1;
    /** A site without visitors reads nothing. After this time the next one waits for it. */
    private const STALE = 30;

    /** How often a call is made while Usher answers others, and how often that of a visitor. */
    private const ATTEMPTS_MAX = 2;
    private const ATTEMPTS_OF_PASS_MAX = 5;
    /** Every request reads the list. */
    private const ENDED_MAX = 10_000;
    private const GRANTS_AT_ONCE_MAX = 1_000;
    private const FORM_MAX = 16_384;
    private const WAITING_BYTES_MAX = 4_000_000;
    /** Visitors share a slot by chance; they are renewed more often then. */
    private const SLOTS = 65_536;

    private const CLOSED = '<!doctype html><html lang="en"><meta charset="utf-8">'
        . '<meta http-equiv="refresh" content="%d"><meta name="viewport" content="width=device-width">'
        . '%s</html>';
    private const LATER = '<title>One moment</title><h1>One moment</h1>'
        . '<p>The shop is not available right now. This page tries again by itself.</p>';
    private const OVER = '<title>Closed</title><h1>Closed</h1><p>This page is not open any more.</p>';

    /**
     * @param string $folder which the site alone may write
     * @param string $failMode what happens to all requests until the record has been read once
     * @param ?string $crawler the crawler that the site has verified
     * @param ?string $clientAddress the visitor's address, `$_SERVER['REMOTE_ADDR']` where no proxy stands before PHP:
     *     Usher's limits for each address hold then
     */
    public function __construct(
        private string $url,
        private string $gateId,
        private string $key,
        private string $folder,
        private string $failMode = 'closed',
        private ?string $crawler = null,
        private ?string $clientAddress = null
    ) {
        $this->url = rtrim($url, '/');
        if (!is_dir($folder)) {
            mkdir($folder, 0700, true);
        }
    }

    /** Returns where the request may go on; else answers it, and ends. */
    public function guard(): void
    {
        $decision = $this->decide(self::request($this->crawler));
        $this->count($decision['kind']);
        if ($decision['kind'] !== 'pass') {
            $this->answer($decision);
            exit;
        }
        if (isset($decision['cookie'])) {
            header('Set-Cookie: ' . $decision['cookie'], false);
            // The visitor's answer is nobody else's, whatever the site says later.
            header_register_callback(fn () => header('Cache-Control: no-store'));
        }
    }

    /** Never answers `ask`. */
    private function decide(array $request): array
    {
        $state = $this->ready();
        if (!isset($state['record'], $state['keySet'])) {
            return $this->failMode === 'open' ? ['kind' => 'pass'] : ['kind' => 'closed', 'retryAfterSeconds' => 5];
        }
        $decision = self::gate($state)->decide($request);
        if ($decision['kind'] === 'ask') {
            $answer = $this->ask($decision['queueId']);
            $decision = self::gate($state)->settle($request, $answer);
            if ($answer['status'] === 'GRANTED' && !isset($decision['jti'])) {
                // Usher has a new key.
                $this->change(fn (array $state) => ['keysDue' => 0] + $state);
            }
        }
        if (isset($decision['jti'])) {
            $this->seen($state['record'], $decision['jti'], isset($decision['cookie']));
        }
        return $decision;
    }

    private static function gate(array $state): Gate
    {
        $now = (int) (microtime(true) * 1000);
        $ended = array_map('strval', array_keys($state['ended'] ?? []));
        $newState = bin2hex(random_bytes(16));
        return new Gate($state['record'], $state['keySet'], $ended, $state['isReachable'] ?? true, $now, $newState);
    }

    private static function request(?string $crawler): array
    {
        $headers = ['content-type' => $_SERVER['CONTENT_TYPE'] ?? ''];
        foreach ($_SERVER as $name => $value) {
            if (is_string($value) && str_starts_with((string) $name, 'HTTP_')) {
                $headers[strtolower(strtr(substr($name, 5), '_', '-'))] = $value;
            }
        }
        $isShort = (int) ($_SERVER['CONTENT_LENGTH'] ?? 0) <= self::FORM_MAX;
        $isForm = $_SERVER['REQUEST_METHOD'] === 'POST' && $isShort;
        return [
            'method' => $_SERVER['REQUEST_METHOD'],
            'target' => $_SERVER['REQUEST_URI'],
            'headers' => $headers,
            'form' => $isForm ? (string) file_get_contents('php://input', false, null, 0, self::FORM_MAX) : '',
            'crawler' => $crawler,
        ];
    }

    private function answer(array $decision): void
    {
        header('Cache-Control: no-store');
        if ($decision['kind'] === 'return' || $decision['kind'] === 'room') {
            http_response_code(303);
            header('Location: ' . $decision['location'], true, 303);
            foreach ($decision['cookies'] ?? array_filter([$decision['cookie'] ?? null]) as $cookie) {
                header('Set-Cookie: ' . $cookie, false);
            }
            return;
        }
        http_response_code($decision['kind'] === 'wait' ? 429 : 503);
        header('Retry-After: ' . $decision['retryAfterSeconds']);
        if ($decision['kind'] === 'wait') {
            header('Content-Type: application/json');
            echo json_encode(['error' => 'Please wait in the room', 'roomUrl' => $decision['roomUrl']]);
            return;
        }
        header('Content-Type: text/html; charset=utf-8');
        printf(self::CLOSED, $decision['retryAfterSeconds'], isset($decision['because']) ? self::OVER : self::LATER);
    }

    /** What is known, which is read now if it is nothing, or old; else after the answer, if it is due. */
    private function ready(): array
    {
        $state = $this->state();
        $now = microtime(true);
        $isReachable = $state['isReachable'] ?? true;
        $mustWait = $isReachable && (!isset($state['record']) || $now - $state['readAt'] > self::STALE);
        if ($now < ($state['busyUntil'] ?? 0)) {
            return $state;
        }
        if ($mustWait) {
            $this->refresh(true);
            return $this->state();
        }
        register_shutdown_function(function () {
            if (function_exists('fastcgi_finish_request')) {
                fastcgi_finish_request();
            }
            $this->refresh(false);
        });
        return $state;
    }

    private function state(): array
    {
        $text = @file_get_contents("$this->folder/state.json");
        return $text === false ? [] : (json_decode($text, true) ?? []);
    }

    /** Changes what is known; requests change it one after another. */
    private function change(callable $change): void
    {
        $lock = fopen("$this->folder/state.lock", 'c');
        flock($lock, LOCK_EX);
        $state = $change($this->state());
        file_put_contents("$this->folder/state.new", json_encode($state));
        rename("$this->folder/state.new", "$this->folder/state.json");
        fclose($lock);
    }

    /** Reads what is due, unless another request does. `$waits`: lets it finish then. */
    private function refresh(bool $waits): void
    {
        $lock = fopen("$this->folder/refresh.lock", 'c');
        $isTurn = flock($lock, LOCK_EX | LOCK_NB);
        for ($until = microtime(true) + self::PATIENCE; $waits && !$isTurn && microtime(true) < $until;) {
            usleep(20_000);
            $isTurn = flock($lock, LOCK_EX | LOCK_NB);
        }
        $began = microtime(true);
        // Another request may have read meanwhile.
        if (!$isTurn || $began < ($this->state()['busyUntil'] ?? 0)) {
            return;
        }
        try {
            $found = $this->read($this->state(), $began);
            $this->change(fn (array $state) => $found + $state);
            $this->renew();
        } catch (\RuntimeException $error) {
            $this->failed($error, $began);
        }
        fclose($lock);
    }

    private function read(array $state, float $now): array
    {
        $isAway = !($state['isReachable'] ?? true);
        $found = ['isReachable' => true, 'readAt' => $now, 'busyUntil' => $now + self::ENDED];
        if ($now >= ($state['keysDue'] ?? 0)) {
            [$found['keySet']] = $this->call('/.well-known/jwks.json');
            $found['keysDue'] = $now + self::KEYS;
        }
        if ($isAway || $now >= ($state['recordDue'] ?? 0)) {
            // An engaged queue that this gate has noticed itself is not in the tag.
            $tag = isset($state['etag']) && !self::isEngaged($state) ? ['If-None-Match: ' . $state['etag']] : [];
            $answer = $this->call("/api/gates/$this->gateId", null, $tag);
            if ($answer !== null) {
                [$found['record'], $found['etag']] = $answer;
            }
            $found['recordDue'] = $now + (self::isEngaged($found + $state) ? self::ENGAGED_RECORD : self::RECORD);
        }
        return $this->readEnded($found + $state, $now) + $found;
    }

    private static function isEngaged(array $state): bool
    {
        return in_array(true, array_column($state['record']['queues'] ?? [], 'engaged'), true);
    }

    private function readEnded(array $state, float $now): array
    {
        $ended = array_filter($state['ended'] ?? [], fn ($until) => $until === null || $until > $now);
        $after = null;
        do {
            // Absent ones are left out.
            $query = http_build_query(['since' => $state['since'] ?? null, 'after' => $after]);
            [$page] = $this->call("/api/gates/$this->gateId/ended?$query", null, ['Usher-Gate: ' . $this->report($state)]);
            foreach ($page['data'] as $grant) {
                $ended[$grant['jti']] = isset($grant['expiresAt']) ? strtotime($grant['expiresAt']) : null;
            }
            $after = $page['next'];
        } while ($after !== null);
        return ['ended' => array_slice($ended, -self::ENDED_MAX, null, true), 'since' => $page['until']];
    }

    private function ask(string $queueId): array
    {
        try {
            $attempt = ['Idempotency-Key: ' . bin2hex(random_bytes(16))];
            $isAddress = filter_var($this->clientAddress, FILTER_VALIDATE_IP) !== false;
            $body = $isAddress ? ['clientAddress' => $this->clientAddress] : new \stdClass();
            [$answer] = $this->call("/api/queues/$queueId/pass", $body, $attempt, self::ATTEMPTS_OF_PASS_MAX);
        } catch (Late) {
            return ['status' => 'ROOM'];
        } catch (\RuntimeException $error) {
            // Usher's "no" to a visitor must not open a gate. A wrong key says nothing about the visitor.
            if ($error instanceof Refused && $error->getCode() !== 401) {
                $other = $error->getCode() === 404 ? 'REFUSED' : 'ROOM';
                return ['status' => str_contains($error->getMessage(), '"CLOSED"') ? 'ENDED' : $other];
            }
            $this->failed($error, microtime(true));
            return ['status' => 'FAILED'];
        }
        if ($answer['status'] === 'QUEUED') {
            // Until the next record everybody goes to the room.
            $this->change(function (array $state) use ($queueId) {
                $state['record']['queues'][$queueId]['engaged'] = true;
                return $state;
            });
        }
        return $answer;
    }

    /** Counts what the gate does, for staff. The numbers only grow, so that one is written over the other. */
    private function count(string $kind): void
    {
        $file = fopen("$this->folder/counts", 'c+');
        flock($file, LOCK_EX);
        $counts = json_decode((string) stream_get_contents($file), true) ?? [];
        $counts[$kind] = ($counts[$kind] ?? 0) + 1;
        rewind($file);
        fwrite($file, json_encode($counts));
        fclose($file);
    }

    /** What staff see of this folder. */
    private function report(array $state): string
    {
        $counts = json_decode((string) @file_get_contents("$this->folder/counts"), true) ?? [];
        $instance = substr(hash('sha256', gethostname() . realpath($this->folder)), 0, 32);
        $text = "php/$instance " . ($state['record']['version'] ?? 'unknown');
        foreach ($counts as $kind => $count) {
            $text .= " $kind=$count";
        }
        return $text;
    }

    /** Notes a visitor for the next renewal, at half of the time for which its grant lasts without one. */
    private function seen(array $record, string $jti, bool $isNew): void
    {
        $queueId = explode('.', $jti, 2)[0];
        $idle = $record['queues'][$queueId]['admissionRenewal']['idleSeconds'] ?? null;
        if ($idle === null) {
            return;
        }
        // A slot has four bytes of the visitor's digest and its last time in tenths of a second.
        $digest = hash('sha256', $jti, true);
        $now = (int) (microtime(true) * 10) & 0xffffffff;
        $slots = fopen("$this->folder/seen", 'c+b');
        fseek($slots, (unpack('N', $digest)[1] % self::SLOTS) * 8);
        $slot = fread($slots, 8);
        $isNoted = strlen((string) $slot) === 8 && substr($slot, 0, 4) === substr($digest, 4, 4);
        if (!$isNoted || $now - unpack('N', substr($slot, 4))[1] >= $idle * 5) {
            fseek($slots, (unpack('N', $digest)[1] % self::SLOTS) * 8);
            fwrite($slots, substr($digest, 4, 4) . pack('N', $now));
            // While Usher is away the file does not grow for ever.
            if (!$isNew && (int) @filesize("$this->folder/waiting") < self::WAITING_BYTES_MAX) {
                file_put_contents("$this->folder/waiting", "$jti\n", FILE_APPEND | LOCK_EX);
            }
        }
        fclose($slots);
    }

    private function renew(): void
    {
        $taken = "$this->folder/waiting.taken";
        if (!is_file($taken) && !@rename("$this->folder/waiting", $taken)) {
            return;
        }
        $byQueue = [];
        foreach (array_unique((array) file($taken, FILE_IGNORE_NEW_LINES)) as $jti) {
            $byQueue[explode('.', $jti, 2)[0]][] = $jti;
        }
        foreach ($byQueue as $queueId => $grants) {
            foreach (array_chunk($grants, self::GRANTS_AT_ONCE_MAX) as $some) {
                [$answer] = $this->call("/api/queues/$queueId/renew", ['grants' => $some]);
                $ended = array_filter($answer['results'], fn ($one) => isset($one['code'], $one['jti']));
                if ($ended !== []) {
                    $this->change(function (array $state) use ($ended) {
                        $state['ended'] = array_fill_keys(array_column($ended, 'jti'), null) + ($state['ended'] ?? []);
                        return $state;
                    });
                }
            }
        }
        // After a failure the same ones are renewed again, which does no harm.
        unlink($taken);
    }

    /**
     * Returns the answer and its tag; nothing if the tag is still right. One call without an answer says little: Usher
     * counts as out of reach only if it has answered no other call meanwhile, nor the same one again where the
     * connection broke at once.
     */
    private function call(string $path, mixed $body = null, array $headers = [], int $max = self::ATTEMPTS_MAX): ?array
    {
        for ($attempt = 1;; $attempt++) {
            $began = microtime(true);
            try {
                $answer = $this->sent($path, $body, $headers);
                $this->noteAnswer();
                return $answer;
            } catch (Refused $error) {
                $this->noteAnswer();
                throw $error;
            } catch (\RuntimeException $error) {
                $took = microtime(true) - $began;
                $answered = (float) @file_get_contents("$this->folder/answered");
                $isHeard = $answered >= $began || $took > self::PATIENCE + self::STALLED;
                if (!$isHeard && ($attempt > 1 || $took > self::PATIENCE / 3)) {
                    throw $error;
                }
                if ($attempt >= $max) {
                    throw $isHeard ? new Late($error->getMessage()) : $error;
                }
            }
        }
    }

    /** Tells other requests that Usher answers. All times are of one length, so that one is written over the other. */
    private function noteAnswer(): void
    {
        $file = fopen("$this->folder/answered", 'c');
        fwrite($file, sprintf('%.6F', microtime(true)));
        fclose($file);
    }

    private function sent(string $path, mixed $body, array $headers): ?array
    {
        $context = stream_context_create(['http' => [
            'method' => $body === null ? 'GET' : 'POST',
            'header' => ["Authorization: Bearer $this->key", 'Content-Type: application/json', ...$headers],
            'content' => $body === null ? '' : json_encode($body),
            'timeout' => self::PATIENCE,
            // The key is for Usher alone.
            'follow_location' => 0,
            'ignore_errors' => true,
        ]]);
        $text = @file_get_contents($this->url . $path, false, $context);
        $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
        if ($status === 304) {
            return null;
        }
        if ($status >= 400 && $status < 500) {
            throw new Refused("Usher refuses: $status " . substr((string) $text, 0, 1_000), $status);
        }
        $answer = $text === false || $status >= 300 ? null : json_decode($text, true);
        if (!is_array($answer)) {
            throw new \RuntimeException("Usher is out of reach ($status)");
        }
        $tags = preg_grep('/^etag:/i', $http_response_header);
        return [$answer, $tags === [] ? null : trim(substr(reset($tags), 5))];
    }

    private function failed(\RuntimeException $error, float $began): void
    {
        $isAnswering = $error instanceof Refused || $error instanceof Late;
        $change = $isAnswering ? ['readAt' => $began] : ['isReachable' => false];
        $this->change(fn (array $state) => ['busyUntil' => $began + self::BREAK] + $change + $state);
        error_log('The gate has no good answer from Usher: ' . $error->getMessage());
    }
}
