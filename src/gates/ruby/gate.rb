# frozen_string_literal: true

require "json"
require "openssl"

# The decision of a gate in Ruby 3.0 with its own openssl. `decide` and `settle` are pure: the record of the gate, the
# published keys, the ended grants, the clock and the request go in, a decision comes out. Reading those, calling Usher
# and writing the answer is the adapter's. The kinds of decisions: `pass` (to the site), `ask` (call the queue's pass, then
# `settle`), `return` and `room` (303 to the location), `wait` (429), `closed` (503).
class UsherGate
  TOKEN_LENGTH_MAX = 4096
  COOKIES_MAX = 4
  FORM_TYPE = "application/x-www-form-urlencoded"
  # For which a browser that was sent to the room may return.
  STATE_SECONDS = 86_400
  CLOSED = { "kind" => "closed", "retryAfterSeconds" => 5 }.freeze

  # What stands before the bytes of an Ed25519 key in a SubjectPublicKeyInfo.
  KEY_HEAD = ["302a300506032b6570032100"].pack("H*")

  # A page of the same site: no other host, no backslash that browsers read as a slash, no line break.
  PAGE = %r{\A/(?:[!-.0-\[\]-~][!-\[\]-~]{0,1998})?\z}

  # gate: the answer of `GET /gates/{gateId}`; key_set: that of its `keysUrl`; ended: the `jti` of ended grants;
  # now: milliseconds since the Unix epoch. All as JSON gives them, with text as keys. new_state: a random text, new for
  # each request, that names a browser which is sent to the room.
  def initialize(gate:, key_set:, ended:, reachable:, now:, new_state:)
    @gate = gate
    @ended = ended
    @reachable = reachable
    @now = now
    @new_state = new_state
    @keys = key_set["keys"].select { |key| key["crv"] == "Ed25519" }
                           .map { |key| OpenSSL::PKey.read(KEY_HEAD + bytes(key["x"])) }
  end

  # request: `method`, `target`, `headers` by names in lower case; perhaps `form`, `crawler`.
  def decide(request)
    return returned(request) if path_of(request["target"]) == @gate["returnPath"]

    rule = rule_for(request)
    return { "kind" => "pass" } if rule.nil? || rule["then"] == "pass"

    queue_id = rule["then"]["queueId"]
    queue = @gate["queues"][queue_id]
    return failed(rule) unless queue

    cookies_in(request, cookie_name(request, queue["experienceId"])).first(COOKIES_MAX).each do |token|
      claims = grant_in(token)
      return { "kind" => "pass", "jti" => claims["jti"] } if claims && claims["experienceId"] == queue["experienceId"]
    end
    state = queue["state"]
    return ended(rule) if state == "ended"
    return state == "scheduled" ? CLOSED : failed(rule) unless @reachable

    queue["engaged"] ? sent_away(request, queue["roomUrl"]) : { "kind" => "ask", "queueId" => queue_id }
  end

  # What follows from the answer of `pass`. Its status is `ROOM` if Usher does not take the visitor from a gate now,
  # `ENDED` if the queue has ended, `REFUSED` if there is no such queue, `FAILED` if there was no answer.
  def settle(request, answer)
    return sent_away(request, answer["roomUrl"]) if answer["status"] == "QUEUED"
    return CLOSED if answer["status"] == "REFUSED"

    rule = rule_for(request)
    return ended(rule) if answer["status"] == "ENDED"

    queue = @gate["queues"][rule["then"]["queueId"]] if rule && rule["then"] != "pass"
    return sent_away(request, queue["roomUrl"]) if answer["status"] == "ROOM" && queue

    token = answer["status"] == "GRANTED" ? answer["admissionGrant"] : ""
    claims = grant_in(token)
    return failed(rule) unless claims

    { "kind" => "pass", "jti" => claims["jti"], "cookie" => cookie_of(request, token, claims) }
  end

  private

  # A grant counts only from the browser that was sent away, and once: another one may have been led here with a grant of
  # its own, and a request may be repeated. One that does not count leads on too: the page's own rule decides.
  def returned(request)
    query = request["target"].split("?", 2)[1].to_s
    decision = { "kind" => "return", "location" => page_in(field_in(query, "to").to_s) }
    is_form = request["headers"].fetch("content-type", "").downcase.start_with?(FORM_TYPE)
    is_of_browser = states_in(request).include?(field_in(query, "state"))
    return decision unless request["method"] == "POST" && is_form && is_of_browser

    token = field_in(request["form"].to_s, "usher_grant").to_s
    claims = grant_in(token)
    return decision unless claims

    decision.merge("cookies" => [cookie_of(request, token, claims), state_cookie(request, "", 0)])
  end

  # The claims of a grant that opens one of the gate's queues.
  def grant_in(token)
    _, signed, payload, signature = *(token.length <= TOKEN_LENGTH_MAX && /\A([\w-]+\.([\w-]+))\.([\w-]+)\z/.match(token))
    return unless signed && signed?(signed, bytes(signature))

    claims = JSON.parse(bytes(payload))
    expected = { "type" => "admission", "iss" => "usher", "aud" => "usher:admission",
                 "organizationId" => @gate["organizationId"], "mode" => @gate["mode"] || "live" }
    return unless expected.all? { |name, value| claims[name] == value }
    return if claims["exp"] && claims["exp"] * 1000 <= @now
    return if @ended.include?(claims["jti"])

    claims if @gate["queues"].any? { |_, queue| queue["experienceId"] == claims["experienceId"] }
  end

  def signed?(signed, signature)
    signature.bytesize == 64 && @keys.any? { |key| key.verify(nil, signature, signed) }
  end

  def failed(rule)
    mode = (rule && rule["failMode"]) || @gate["failMode"]
    mode == "open" ? { "kind" => "pass" } : CLOSED
  end

  # What a queue protected stays closed after its end, whatever the fail mode says.
  def ended(rule)
    return { "kind" => "pass" } if rule && rule["afterEnd"] == "pass"

    { "kind" => "closed", "retryAfterSeconds" => 60, "because" => "ended" }
  end

  def sent_away(request, room_url)
    return { "kind" => "wait", "roomUrl" => room_url, "retryAfterSeconds" => 10 } unless navigation?(request["headers"])

    host = host_of(request)
    origin = (local?(host) ? "http://" : "https://") + host
    # The tabs of a browser share its state.
    state = states_in(request).first || @new_state
    back = "#{origin}#{@gate["returnPath"]}?to=#{escaped(page_in(request["target"]))}&state=#{state}"
    location = "#{room_url}#{room_url.include?("?") ? "&" : "?"}return=#{escaped(back)}"
    { "kind" => "room", "location" => location, "cookie" => state_cookie(request, state, STATE_SECONDS) }
  end

  # Its path is always the root: the return path must get it.
  def state_name(request)
    prefix = @gate["cookie"]["domain"] ? "__Secure-" : "__Host-"
    "#{prefix unless local?(host_of(request))}usher-state"
  end

  def states_in(request)
    cookies_in(request, state_name(request)).first(COOKIES_MAX).grep(/\A[\w-]{20,64}\z/)
  end

  # The room may be another site, which posts the grant: a browser sends only `SameSite=None` cookies with such a form.
  def state_cookie(request, state, max_age)
    domain = @gate["cookie"]["domain"]
    rest = local?(host_of(request)) ? "SameSite=Lax" : "SameSite=None; Secure"
    "#{state_name(request)}=#{state}; Path=/#{"; Domain=#{domain}" if domain}; HttpOnly; #{rest}; Max-Age=#{max_age}"
  end

  def navigation?(headers)
    !headers.key?("x-requested-with") && headers.fetch("sec-fetch-mode", "navigate") == "navigate" &&
      headers.fetch("accept", "").downcase.include?("text/html")
  end

  # The host of a request with its port if it is the gate's, else the gate's first.
  def host_of(request)
    host = request["headers"].fetch("host", "").downcase
    name, port = /\A([a-z0-9.-]+?)\.?(:[0-9]{1,5})?\z/.match(host)&.captures
    @gate["hosts"].include?(name) ? "#{name}#{port}" : @gate["hosts"].first
  end

  def local?(host)
    host.match?(/\A(localhost|127\.0\.0\.1)(:|\z)/)
  end

  # `__Host-` keeps out cookies that other hosts of the domain have set.
  def cookie_name(request, experience_id)
    cookie = @gate["cookie"]
    prefix = cookie["domain"].nil? && cookie.fetch("path", "/") == "/" ? "__Host-" : "__Secure-"
    "#{prefix unless local?(host_of(request))}#{cookie.fetch("name", "usher-grant")}-#{experience_id}"
  end

  def cookie_of(request, token, claims)
    cookie = @gate["cookie"]
    parts = ["#{cookie_name(request, claims["experienceId"])}=#{token}", "Path=#{cookie.fetch("path", "/")}"]
    parts << "Domain=#{cookie["domain"]}" if cookie["domain"]
    parts << "HttpOnly" << "SameSite=Lax"
    parts << "Secure" unless local?(host_of(request))
    parts << "Max-Age=#{[1, (claims["exp"] - @now / 1000.0).floor].max}" if claims["exp"]
    parts.join("; ")
  end

  def page_in(page)
    page.b.match?(PAGE) ? page : "/"
  end

  # The first field of this name in a query or form.
  def field_in(text, name)
    pair = text.split("&").find { |one| one.start_with?("#{name}=") }
    pair && unescaped(pair[(name.length + 1)..].tr("+", " "))
  end

  # The first rule that fits. One that protects fits by any reading of the path, one that lets pass by all.
  def rule_for(request)
    sent = unescaped(path_of(request["target"]))
    readings = [sent, resolved(unescaped(unescaped(sent)))]
    @gate["rules"].find do |rule|
      lets = rule["then"] == "pass"
      fitting = readings.count { |reading| fits_path?(rule["when"], lets, reading) }
      fitting >= (lets ? readings.length : 1) && fits_rest?(rule["when"], request)
    end
  end

  def fits_path?(conditions, lets, reading)
    path = conditions["path"] && unescaped(conditions["path"])
    prefix = unescaped(conditions["pathPrefix"].to_s)
    return (path.nil? || path == reading) && reading.start_with?(prefix) if lets

    (path.nil? || bare(path) == bare(reading)) && lower(reading).start_with?(lower(prefix))
  end

  def fits_rest?(conditions, request)
    return false if conditions["methods"] && !conditions["methods"].include?(request["method"])

    if (header = conditions["header"])
      value = request["headers"][header["name"].downcase]
      return false if value.nil? || value != header.fetch("value", value)
    end
    return false if conditions["cookie"] && cookies_in(request, conditions["cookie"]).empty?

    conditions["crawler"].nil? || conditions["crawler"] == request["crawler"]
  end

  # The values of all cookies of this name.
  def cookies_in(request, name)
    pairs = request["headers"].fetch("cookie", "").split(";").map(&:strip)
    pairs.select { |pair| pair.start_with?("#{name}=") }.map { |pair| pair[(name.length + 1)..] }
  end

  # The path of a target, without scheme and host where a proxy sends them.
  def path_of(target)
    path = target.sub(%r{\Ahttps?://[^/?#]*}i, "").sub(/[?#].*\z/m, "")
    path.empty? ? "/" : path
  end

  # Without empty and dot segments, backslashes and parameters of segments.
  def resolved(path)
    path = path.tr("\\", "/")
    segments = path.split("/").each_with_object([]) do |part, kept|
      segment = part.split(";", 2).first.to_s
      if segment == ".." then kept.pop
      elsif segment != "" && segment != "." then kept << segment
      end
    end
    "/#{segments.join("/")}#{"/" if segments.any? && path.end_with?("/")}"
  end

  # Many origins take these for the same.
  def bare(path)
    lower(path).sub(%r{(?<!/)/+\z}, "")
  end

  def lower(text)
    text.tr("A-Z", "a-z")
  end

  # Decodes escapes to bytes, and leaves what is no escape.
  def unescaped(text)
    text.b.gsub(/%(\h\h)/) { Regexp.last_match(1).hex.chr }
  end

  # Escapes all but unreserved characters.
  def escaped(text)
    text.b.gsub(/[^A-Za-z0-9._~-]/) { |char| format("%%%02X", char.ord) }
  end

  def bytes(base64url)
    base64url.tr("-_", "+/").unpack1("m")
  end
end
