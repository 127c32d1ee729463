import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.logging.Logger;
import org.keycloak.models.KeycloakContext;
import org.keycloak.models.UserModel;
import org.keycloak.provider.ConfiguredProvider;
import org.keycloak.provider.ProviderConfigProperty;
import org.keycloak.userprofile.AttributeContext;
import org.keycloak.userprofile.UserProfileAttributeValidationContext;
import org.keycloak.userprofile.UserProfileContext;
import org.keycloak.util.JsonSerialization;
import org.keycloak.validate.AbstractStringValidator;
import org.keycloak.validate.ValidationContext;
import org.keycloak.validate.ValidationError;
import org.keycloak.validate.ValidatorConfig;

/** Asks Gatepost about every new address of a user profile; only its "reject" refuses. */
public class GatepostEmail extends AbstractStringValidator implements ConfiguredProvider {
  private static final Logger LOG = Logger.getLogger("gatepost");
  private static final String URL = System.getenv("GATEPOST_URL");
  private static final String KEY = System.getenv("GATEPOST_KEY");
  private static final String MALFORMED = "Please enter a complete email address.";
  private static final HttpClient CLIENT = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(1)).build();

  @Override
  protected void doValidate(String email, String hint, ValidationContext validation, ValidatorConfig config) {
    try {
      AttributeContext asked = UserProfileAttributeValidationContext.from(validation).getAttributeContext();
      // At the first login through another provider the "user" is what that provider says.
      UserModel user = asked.getContext() == UserProfileContext.IDP_REVIEW ? null : asked.getUser();
      boolean isOld = user != null && email.equalsIgnoreCase(user.getEmail());
      if (isOld || email.isBlank() || asked.getContext().isAdminContext()) return;
      KeycloakContext context = validation.getSession().getContext();
      String ip = String.valueOf(context.getConnection() == null ? null : context.getConnection().getRemoteAddr());
      String message = refusalOf(email, context.resolveLocale(user).toLanguageTag(), ip);
      if (message != null) validation.addError(new ValidationError(getId(), hint, message));
    } catch (Exception fault) { // fail open: never lose a user because a check failed
      LOG.warning("let in without a check: " + fault.getClass().getName());
    }
  }

  /** What to tell the person; null for everybody else. */
  private static String refusalOf(String email, String language, String ip) throws Exception {
    if (email.length() > 1000) return MALFORMED;
    Map<String, String> countBy = ip.matches("[0-9.]{7,15}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*") ? Map.of("ip", ip) : Map.of();
    String body = JsonSerialization.writeValueAsString(Map.of(
        "email", email, "language", language, "deadline_ms", 1000, "form", "keycloak", "count_by", countBy));
    HttpRequest request = HttpRequest.newBuilder(URI.create(URL + "/api/decide"))
        .header("Content-Type", "application/json").header("X-Api-Key", KEY)
        .POST(BodyPublishers.ofString(body)).build();
    HttpResponse<String> answer = CLIENT.sendAsync(request, BodyHandlers.ofString()).get(1500, MILLISECONDS);
    int status = answer.statusCode();
    if (status == 400 || status == 413 || status == 422) return MALFORMED;
    if (status == 429) return "Please try again in a minute.";
    if (status != 200) {
      LOG.warning("let in without a check: status " + status);
      return null;
    }
    Map<?, ?> said = JsonSerialization.readValue(answer.body(), Map.class);
    if (!"reject".equals(said.get("decision"))) return null;
    return said.get("message") instanceof String text ? text : "Please use another email address.";
  }

  @Override
  public String getId() {
    return "gatepost";
  }

  @Override
  public String getHelpText() {
    return "Refuses the addresses that your policy in Gatepost rejects.";
  }

  @Override
  public List<ProviderConfigProperty> getConfigProperties() {
    return List.of();
  }
}
