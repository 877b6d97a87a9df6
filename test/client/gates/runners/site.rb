# frozen_string_literal: true

# A site of one page behind a gate: `site.rb URL GATE KEY`. Prints its port. The server is as much as one page needs.
require "socket"
require "stringio"
require_relative "../../../../src/gates/ruby/adapter"

url, gate_id, key = ARGV
site = UsherGate::Rack.new(->(_) { [200, { "set-cookie" => "own=1" }, ["the site"]] }, url: url, gate_id: gate_id, key: key)
server = TCPServer.new("127.0.0.1", 0)
puts server.addr[1]
$stdout.flush
loop do
  Thread.new(server.accept) do |client|
    method, target = client.gets.split
    path, query = target.split("?", 2)
    env = { "REQUEST_METHOD" => method, "SCRIPT_NAME" => "", "PATH_INFO" => path, "QUERY_STRING" => query.to_s }
    while (line = client.gets.chomp) != ""
      name, value = line.split(": ", 2)
      name = name.upcase.tr("-", "_")
      env[name == "CONTENT_TYPE" ? name : "HTTP_#{name}"] = value
    end
    length = env["HTTP_CONTENT_LENGTH"].to_i
    chunked = env["HTTP_TRANSFER_ENCODING"] == "chunked"
    text = chunked ? client.read(client.gets.to_i(16)).tap { client.gets && client.gets && client.gets } : client.read(length)
    env["rack.input"] = StringIO.new(text.to_s)
    status, headers, body = site.call(env)
    lines = headers.flat_map { |name, value| value.split("\n").map { |one| "#{name}: #{one}\r\n" } }
    client.write("HTTP/1.1 #{status} Status\r\n#{lines.join}connection: close\r\n\r\n#{body.join}")
    client.close
  end
end
