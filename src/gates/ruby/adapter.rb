# frozen_string_literal: true

require "ipaddr"
require "net/http"
require "securerandom"
require "set"
require "time"
require_relative "gate"

# A gate inside of a site in Ruby 3.0: Rack (Rails, Sinatra). Needs `gate.rb` beside it.
#
#     use UsherGate::Rack, url: "https://usher.example.com", gate_id: id, key: key
#
# A thread keeps record, keys and ended grants current and reports visitors. A request reads memory alone, except that a
# new visitor costs one call of `pass`. While Usher is out of reach nobody waits for it.
class UsherGate
  # Usher has answered with a refusal. Any error but this one and Late means that it is out of reach.
  class Refused < StandardError
    attr_reader :status

    def initialize(status, text)
      super("Usher refuses: #{status} #{text}")
      @status = status
    end
  end

  # A call has no answer, although Usher answers others.
  class Late < StandardError; end

  # What the gate knows. fail_mode: what happens to all requests until the record has been read once.
  class Field
    # Seconds.
    PATIENCE = 0.9
    # A call that ends so much after its patience says that this process had no processor, and nothing about Usher.
    STALLED = 0.1
    RECORD = 10
    ENGAGED_RECORD = 2
    KEYS = 60
    ENDED_MAX = 1_000_000
    VISITORS_MAX = 200_000
    GRANTS_AT_ONCE_MAX = 1_000
    # How often a call is made while Usher answers others, and how often that of a visitor.
    ATTEMPTS_MAX = 2
    ATTEMPTS_OF_PASS_MAX = 5

    def initialize(url:, gate_id:, key:, fail_mode: "closed", report: method(:warn))
      @base = URI(url.chomp("/"))
      @gate_id = gate_id
      @key = key
      @fail_mode = fail_mode
      @report = report
      @lock = Mutex.new
      @reachable = true
      @ended = {}
      @noted = {}
      @noted_before = {}
      @waiting = {}
      @due = { record: 0, keys: 0 }
      @answered = 0
      @counts = Hash.new(0)
      @instance = SecureRandom.uuid
    end

    # request: as `UsherGate` takes it. The block reads the body at the return path. Never answers `ask`.
    def decide(request)
      ready
      unless @gate
        return @fail_mode == "open" ? { "kind" => "pass" } : { "kind" => "closed", "retryAfterSeconds" => 5 }
      end

      request = request.merge("form" => yield) if return?(request)
      decision = knowledge.decide(request)
      decision = settled(request, ask(decision["queueId"], request["clientAddress"])) if decision["kind"] == "ask"
      @lock.synchronize { @counts[decision["kind"]] += 1 }
      seen(decision["jti"], decision.key?("cookie")) if decision["jti"]
      decision
    end

    private

    def return?(request)
      request["method"] == "POST" && request["target"].split("?", 2).first == @gate["returnPath"]
    end

    def settled(request, answer)
      decision = knowledge.settle(request, answer)
      # Usher has a new key.
      @due[:keys] = 0 if answer["status"] == "GRANTED" && !decision["jti"]
      decision
    end

    def knowledge
      known = { gate: @gate, key_set: @key_set, ended: @ended, reachable: @reachable }
      UsherGate.new(**known, now: Time.now.to_f * 1000, new_state: SecureRandom.hex(16))
    end

    def ask(queue_id, client_address)
      body = client_address ? { "clientAddress" => client_address } : {}
      attempt = { "Idempotency-Key" => SecureRandom.uuid }
      answer, = call("/api/queues/#{queue_id}/pass", body, attempt, ATTEMPTS_OF_PASS_MAX)
      # Until the next record everybody goes to the room.
      @gate["queues"][queue_id]["engaged"] = true if answer["status"] == "QUEUED"
      answer
    rescue Late
      { "status" => "ROOM" }
    rescue StandardError => e
      # Usher's "no" to a visitor must not open a gate. A wrong key says nothing about the visitor.
      if e.is_a?(Refused) && e.status != 401
        other = e.status == 404 ? "REFUSED" : "ROOM"
        return { "status" => e.message.include?('"CLOSED"') ? "ENDED" : other }
      end

      failed(e)
      { "status" => "FAILED" }
    end

    # Notes a visitor for the next renewal, at half of the time for which its grant lasts without one.
    def seen(jti, is_new)
      queue_id = jti.split(".").first
      renewal = @gate.dig("queues", queue_id, "admissionRenewal")
      return unless renewal

      @lock.synchronize do
        before = @noted[jti] || @noted_before[jti]
        return if before && clock - before < renewal["idleSeconds"] / 2.0

        @noted_before, @noted = @noted, {} if @noted.size >= VISITORS_MAX
        @noted[jti] = clock
        grants = (@waiting[queue_id] ||= Set.new)
        grants << jti unless is_new || grants.size >= VISITORS_MAX
      end
    end

    # Starts the thread, once in each process: servers fork. Waits for the record, unless it could not be read.
    def ready
      @lock.synchronize do
        next if @process == Process.pid

        @process = Process.pid
        @read_once = Queue.new
        Thread.new { keep_current }
      end
      deadline = clock + PATIENCE
      sleep 0.01 until @gate || @read_once.closed? || clock > deadline
    end

    def keep_current
      loop do
        began = clock
        begin
          read
          @reachable = true
          renew
        rescue StandardError => e
          failed(e)
        end
        @read_once.close
        sleep [0.1, began + 1 - clock].max
      end
    end

    def read
      if clock >= @due[:keys]
        @key_set, = call("/.well-known/jwks.json")
        @due[:keys] = clock + KEYS
      end
      read_record if clock >= @due[:record] || !@reachable
      read_ended
    end

    def read_record
      # An engaged queue that this gate has noticed itself is not in the tag.
      gate, etag = call("/api/gates/#{@gate_id}", nil, @etag && !engaged? ? { "If-None-Match" => @etag } : {})
      @gate, @etag = gate, etag if gate
      @due[:record] = clock + (engaged? ? ENGAGED_RECORD : RECORD)
    end

    def engaged?
      @gate && @gate["queues"].any? { |_, queue| queue["engaged"] }
    end

    def read_ended
      query = { "since" => @since }
      now = Time.now.to_f
      ended = @ended.select { |_, till| till > now }
      loop do
        page, = call("/api/gates/#{@gate_id}/ended?#{URI.encode_www_form(query.compact)}", nil, { "Usher-Gate" => own_report })
        page["data"].each { |grant| ended[grant["jti"]] = till(grant["expiresAt"]) if ended.size < ENDED_MAX }
        query["after"] = page["next"]
        next if page["next"]

        @since = page["until"]
        break
      end
      @ended = ended
    end

    # What staff see of this process.
    def own_report
      counts = @lock.synchronize { @counts.map { |kind, count| " #{kind}=#{count}" } }
      "ruby/#{@instance} #{@gate.fetch("version", "unknown")}#{counts.join}"
    end

    # Without a time the token never expires.
    def till(expires_at)
      expires_at ? Time.iso8601(expires_at).to_f : Float::INFINITY
    end

    def renew
      taken = @lock.synchronize { @waiting.tap { @waiting = {} } }
      taken.each do |queue_id, grants|
        grants.each_slice(GRANTS_AT_ONCE_MAX) do |some|
          answer, = call("/api/queues/#{queue_id}/renew", { "grants" => some })
          gone = answer["results"].select { |result| result["code"] && result["jti"] }
          @ended = @ended.merge(gone.to_h { |result| [result["jti"], Float::INFINITY] }) if @ended.size < ENDED_MAX
        end
      rescue StandardError
        @lock.synchronize { (@waiting[queue_id] ||= Set.new).merge(grants) }
        raise
      end
    end

    # Returns the answer and its tag; no answer if the tag is still right. One call without an answer says little: Usher
    # counts as out of reach only if it has answered no other call meanwhile, nor the same one again where the connection
    # broke at once.
    def call(path, body = nil, headers = {}, attempts_max = ATTEMPTS_MAX)
      attempt = 0
      begin
        attempt += 1
        began = clock
        sent(path, body, headers).tap { @answered = clock }
      rescue Refused
        @answered = clock
        raise
      rescue StandardError => e
        took = clock - began
        heard = @answered >= began || took > PATIENCE + STALLED
        raise if !heard && (attempt > 1 || took > PATIENCE / 3)
        retry if attempt < attempts_max

        raise heard ? Late.new(e.message) : e
      end
    end

    def sent(path, body, headers)
      all = { "Authorization" => "Bearer #{@key}", "Content-Type" => "application/json", **headers }
      request = (body ? Net::HTTP::Post : Net::HTTP::Get).new("#{@base.path}#{path}", all)
      request.body = JSON.generate(body) if body
      patience = { open_timeout: PATIENCE, read_timeout: PATIENCE, write_timeout: PATIENCE, max_retries: 0 }
      secure = @base.scheme == "https"
      reply = Net::HTTP.start(@base.host, @base.port, use_ssl: secure, **patience) { |http| http.request(request) }
      case reply.code.to_i
      when 200..299 then [JSON.parse(reply.body), reply["ETag"]]
      when 304 then nil
      when 400..499 then raise Refused.new(reply.code.to_i, reply.body[0, 1000])
      else raise IOError, "status #{reply.code}"
      end
    end

    def failed(error)
      @reachable = false unless error.is_a?(Refused) || error.is_a?(Late)
      @report.call("The gate has no good answer from Usher: #{error.message}")
    end

    def clock
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end

  # crawler: names the crawler that the site has verified, from the environment. client_address: the visitor's address, from
  # the environment, as a server or proxy that you trust names it: `REMOTE_ADDR` where no proxy stands before. Usher's
  # limits for each address hold then.
  class Rack
    FORM_MAX = 16_384
    CLOSED = '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="%d">' \
             '<meta name="viewport" content="width=device-width">%s</html>'
    LATER = "<title>One moment</title><h1>One moment</h1>" \
            "<p>The shop is not available right now. This page tries again by itself.</p>"
    OVER = "<title>Closed</title><h1>Closed</h1><p>This page is not open any more.</p>"

    def initialize(site, crawler: ->(_) {}, client_address: ->(_) {}, **settings)
      @site = site
      @client_address = client_address
      @crawler = crawler
      @field = Field.new(**settings)
    end

    def call(env)
      decision = @field.decide(request_of(env)) { form_of(env) }
      return answer_to(decision) unless decision["kind"] == "pass"

      status, headers, body = @site.call(env)
      decision["cookie"] ? [status, with_cookie(headers, decision["cookie"]), body] : [status, headers, body]
    end

    private

    def request_of(env)
      headers = env.filter_map { |name, value| [name[5..].tr("_", "-").downcase, value] if name.start_with?("HTTP_") }.to_h
      headers["content-type"] = env["CONTENT_TYPE"].to_s
      query = env["QUERY_STRING"].to_s
      # Servers hand the path on as it was sent.
      target = "#{env["SCRIPT_NAME"]}#{env["PATH_INFO"]}#{"?#{query}" unless query.empty?}"
      { "method" => env["REQUEST_METHOD"], "target" => target, "headers" => headers, "crawler" => @crawler.call(env),
        "clientAddress" => address_in(@client_address.call(env)) }
    end

    def address_in(text)
      text && IPAddr.new(text).to_s
    rescue IPAddr::Error
      nil
    end

    # The form of the return path; empty if it is too long.
    def form_of(env)
      text = env["rack.input"]&.read(FORM_MAX + 1).to_s
      text.bytesize > FORM_MAX ? "" : text
    end

    def answer_to(decision)
      headers = { "cache-control" => "no-store" }
      if %w[return room].include?(decision["kind"])
        headers["location"] = decision["location"]
        cookies = decision["cookies"] || [decision["cookie"]].compact
        headers["set-cookie"] = several(cookies) unless cookies.empty?
        return [303, headers, []]
      end
      headers["retry-after"] = decision["retryAfterSeconds"].to_s
      if decision["kind"] == "wait"
        body = JSON.generate("error" => "Please wait in the room", "roomUrl" => decision["roomUrl"])
        return [429, headers.merge("content-type" => "application/json"), [body]]
      end
      page = format(CLOSED, decision["retryAfterSeconds"], decision["because"] ? OVER : LATER)
      [503, headers.merge("content-type" => "text/html; charset=utf-8"), [page]]
    end

    # Rack 2 has cookies as lines, Rack 3 as a list.
    def several(cookies)
      defined?(::Rack.release) && ::Rack.release.to_i >= 3 ? cookies : cookies.join("\n")
    end

    # The visitor's answer is nobody else's.
    def with_cookie(headers, cookie)
      kept = headers.reject { |name, _| %w[set-cookie cache-control].include?(name.downcase) }
      own = headers.find { |name, _| name.downcase == "set-cookie" }&.last
      kept.merge("cache-control" => "no-store", "set-cookie" => several([*own, cookie]))
    end
  end
end
