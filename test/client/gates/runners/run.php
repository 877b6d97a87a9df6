<?php

require __DIR__ . '/../../../../src/gates/php/gate.php';

$file = json_decode(file_get_contents($argv[1]), true);
$decisions = array_map(function (array $case) use ($file) {
    $gate = new Usher\Gate(
        $file['gates'][$case['gate']],
        $file['keys'][$case['keys'] ?? 'published'],
        $case['ended'] ?? [],
        $case['isReachable'] ?? true,
        $case['now'] ?? $file['now'],
        $file['newState']
    );
    return isset($case['answer'])
        ? $gate->settle($case['request'], $case['answer'])
        : $gate->decide($case['request']);
}, $file['cases']);
echo json_encode($decisions, JSON_THROW_ON_ERROR);
