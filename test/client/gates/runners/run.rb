# frozen_string_literal: true

require_relative "../../../../src/gates/ruby/gate"

file = JSON.parse(File.read(ARGV[0]))
decisions = file["cases"].map do |one|
  gate = UsherGate.new(
    gate: file["gates"][one["gate"]],
    key_set: file["keys"][one.fetch("keys", "published")],
    ended: one.fetch("ended", []),
    reachable: one.fetch("isReachable", true),
    now: one.fetch("now", file["now"]),
    new_state: file["newState"]
  )
  one["answer"] ? gate.settle(one["request"], one["answer"]) : gate.decide(one["request"])
end
puts JSON.generate(decisions)
