# Asks as NeverBounce's Ruby client does (GET with a JSON body) and as its Java client does (POST of JSON with a charset),
# which no registry at hand holds. Both read an answer by its type. Prints what they gave: client -> [disposable, good, wrong key].
require "json"
require "net/http"

def verify(request_class, type, key, email)
  url = URI("#{ENV["COMPAT_URL"]}/compat/neverbounce/v4/single/check")
  request = request_class.new(url, "Content-Type" => type)
  request.body = JSON.generate(email: email, key: key)
  answer = Net::HTTP.start(url.host, url.port) { |http| http.request(request) }
  return "type: #{answer["content-type"]}" unless answer["content-type"] == "application/json"

  told = JSON.parse(answer.body)
  told["status"] == "success" ? told["result"] : told["status"]
end

said = { "ruby neverbounce" => [Net::HTTP::Get, "application/json"],
         "java neverbounce" => [Net::HTTP::Post, "application/json; charset=UTF-8"] }.transform_values do |way|
  [[ENV["COMPAT_KEY"], "jo@bad.example"], [ENV["COMPAT_KEY"], "jo@good.example"], ["wrong-key", "jo@good.example"]].map do |words|
    verify(*way, *words)
  end
end
puts JSON.generate(said)
