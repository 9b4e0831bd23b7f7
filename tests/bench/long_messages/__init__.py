"""What a person's page costs while others send the longest messages of hostile shapes."""
