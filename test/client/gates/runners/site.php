<?php

// A site of one page behind a gate, for PHP's own server: the environment says which gate.
require __DIR__ . '/../../../../src/gates/php/adapter.php';

$of = fn (string $name) => (string) getenv($name);
(new Usher\Site($of('GATE_URL'), $of('GATE_ID'), $of('GATE_KEY'), $of('GATE_FOLDER')))->guard();
header('Set-Cookie: own=1', false);
echo 'the site';
